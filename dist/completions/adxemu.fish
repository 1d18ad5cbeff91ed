# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_adxemu_global_optspecs
    string join \n config= state= ephemeral dns= no-dns workers= ssh= ssh-legacy telnet= metrics= client-subnet strict-dns live= rate-limit= rate-limit-slip= grammar= h/help V/version
end

function __fish_adxemu_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_adxemu_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_adxemu_using_subcommand
    set -l cmd (__fish_adxemu_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c adxemu -n "__fish_adxemu_needs_command" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_needs_command" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_needs_command" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_needs_command" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_needs_command" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_needs_command" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_needs_command" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_needs_command" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_needs_command" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_needs_command" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_needs_command" -s V -l version -d 'Print version'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "shell" -d 'One appliance at an interactive prompt, DNS answering beside it (the default)'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "demo" -d 'The same with a built-in example loaded'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "lab" -d 'Several appliances from the *.cfg files of a folder, with its *.emu scenarios played'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "serve" -d 'Any of these without a prompt, until SIGTERM or SIGINT'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "replay" -d 'Plays session files: exit 0 if all agree, 1 with a unified diff if not, 2 if one is unreadable'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "check" -d 'Reads configurations and reports every line that is not fully modelled: exit 0 if clean, 1 with findings, 2 if a file is unreadable'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "completions" -d 'Completions of this program\'s arguments for a shell'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "man" -d 'The manual page of this program; with a folder, a page for each command into it'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "simulate" -d 'Sends a population of questions, or those of a log, through a configuration or a lab, and shows who gets what: as it is, beside another one, or before and after a change'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "failures" -d 'What every client region gets after every single and every double failure of sites, site devices and addresses, the worst first'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "audit" -d 'What an appliance does today, in words, for those who decide about a change: policies in force, metrics that cannot decide, negative answers, TTLs, what a reload loses'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "commands" -d 'The command reference, derived from the grammar'
complete -c adxemu -n "__fish_adxemu_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand shell" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand lab" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -f -a "shell" -d 'One appliance'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -f -a "demo" -d 'A built-in example'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -f -a "lab" -d 'Several appliances; the controller answers DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and not __fish_seen_subcommand_from shell demo lab help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from shell" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from lab" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from help" -f -a "shell" -d 'One appliance'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from help" -f -a "demo" -d 'A built-in example'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from help" -f -a "lab" -d 'Several appliances; the controller answers DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand serve; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l strict -d 'Compare every character'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l show -d 'Show each session as it appears on a terminal'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l format -d 'How findings are written' -r -f -a "text\t'For people'
json\t'For programs; docs/check.md specifies it'
sarif\t'SARIF 2.1.0, for code review and CI'"
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l fail-on -d 'The least severity that makes the exit status 1' -r -f -a "note\t'Also lines that are only kept'
warning\t'Lines that the emulator does not know, and what hardly works as meant'
error\t'Lines that are lost'"
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l scenario -d 'Commands of the emulated world, typed before anything else; may be repeated' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -s n -l questions -d 'How many questions' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l rate -d 'Questions a second' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l clients -d 'How many different clients' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l from -d 'Where clients are, with their part: 198.51.100.0/24=3, europe=1; may be repeated [default: a fifth in each region]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l name -d 'What is asked for, with its part: www.example.com=3, www.example.com/AAAA; may be repeated [default: every host alike]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l seed -d 'Where all randomness comes from' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l log -d 'Takes the questions from a query log: text (time client name type), dnstap, pcap or pcapng, also compressed by gzip or zstd' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l log-port -d 'The port of the servers whose questions a capture of packets holds' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l compare -d 'Sends the same questions through another configuration or lab' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l change -d 'Types the commands of a file at a prompt, as they would be pasted' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l at -d 'When the change is made: after N questions, or after N seconds [default: half of --questions]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l resolvers -d 'Resolvers between clients and appliance' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l threads -d 'Threads that answer [default: one a core]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l html -d 'Writes a page with tables and charts' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l json -d 'Writes the data as JSON; docs/what-if.md specifies it' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l csv -d 'Writes the figures as CSV' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l clear -d 'Zeroes the counters with the change; the device itself keeps them'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l cache -d 'The resolvers keep answers for their TTL'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l scenario -d 'Commands of the emulated world, typed before anything else; may be repeated' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l worst -d 'How many of the worst cases of each kind are told' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l html -d 'Writes a page with tables and charts' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l json -d 'Writes the data as JSON; docs/what-if.md specifies it' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l csv -d 'Writes the figures as CSV' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand failures" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l scenario -d 'Commands of the emulated world, typed before anything else; may be repeated' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l html -d 'Writes a page; `-` is the standard output, in the place of Markdown' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l json -d 'Writes the data as JSON; docs/what-if.md specifies it' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l config -d 'Startup configuration; it is never written to' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l state -d 'Where saved configurations are kept' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l dns -d 'Where DNS answers, over UDP and TCP; may be repeated [default: 127.0.0.1:5300]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l workers -d 'Threads that answer UDP on each address [default: 1; serve: one a core, at most 4]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l ssh -d 'Where SSH sessions are accepted; in a lab the first of a range, one port for each appliance. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l telnet -d 'Where Telnet sessions are accepted; as --ssh' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l metrics -d 'Where metrics are given to Prometheus over HTTP. Without an address: on 127.0.0.1' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l live -d 'Check servers over the network, at the addresses that the configuration names or where `emulate map` leads; `--live=mapped`: only at those that are mapped' -r -f -a "all\t'Every address that the configuration names'
mapped\t'Only where `emulate map` leads'"
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l rate-limit -d 'Replies of one kind a second over UDP to one network of clients (/24, /56); further ones are dropped or cut [default: no limit]' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l rate-limit-slip -d 'Of the replies over the limit every so many is sent without records, so that clients come again over TCP; 0: none, 1: all' -r
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l grammar -d 'Read the grammar from a folder instead of the one that is built in' -r -F
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l markdown -d 'As Markdown'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l ephemeral -d 'Keep nothing between two runs'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l no-dns -d 'Do not answer DNS'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l ssh-legacy -d 'Also offer SSH algorithms that only old clients need and that are no longer safe'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l client-subnet -d 'Take the address of an EDNS client-subnet option for that of the client'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -l strict-dns -d 'Add the SOA record that the device leaves out of negative answers'
complete -c adxemu -n "__fish_adxemu_using_subcommand commands" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "shell" -d 'One appliance at an interactive prompt, DNS answering beside it (the default)'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "demo" -d 'The same with a built-in example loaded'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "lab" -d 'Several appliances from the *.cfg files of a folder, with its *.emu scenarios played'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "serve" -d 'Any of these without a prompt, until SIGTERM or SIGINT'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "replay" -d 'Plays session files: exit 0 if all agree, 1 with a unified diff if not, 2 if one is unreadable'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "check" -d 'Reads configurations and reports every line that is not fully modelled: exit 0 if clean, 1 with findings, 2 if a file is unreadable'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "completions" -d 'Completions of this program\'s arguments for a shell'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "man" -d 'The manual page of this program; with a folder, a page for each command into it'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "simulate" -d 'Sends a population of questions, or those of a log, through a configuration or a lab, and shows who gets what: as it is, beside another one, or before and after a change'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "failures" -d 'What every client region gets after every single and every double failure of sites, site devices and addresses, the worst first'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "audit" -d 'What an appliance does today, in words, for those who decide about a change: policies in force, metrics that cannot decide, negative answers, TTLs, what a reload loses'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "commands" -d 'The command reference, derived from the grammar'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and not __fish_seen_subcommand_from shell demo lab serve replay check completions man simulate failures audit commands help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and __fish_seen_subcommand_from serve" -f -a "shell" -d 'One appliance'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and __fish_seen_subcommand_from serve" -f -a "demo" -d 'A built-in example'
complete -c adxemu -n "__fish_adxemu_using_subcommand help; and __fish_seen_subcommand_from serve" -f -a "lab" -d 'Several appliances; the controller answers DNS'

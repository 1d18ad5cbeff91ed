// Looks at the reports of adxemu in a headless Chromium: no request leaves the page, axe finds nothing to complain about,
// and the tables show the numbers of the JSON document.
//
//   npm ci --prefix tests/html && node tests/html/check.mjs target/debug/adxemu [FOLDER FOR SCREENSHOTS]

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [binary, screenshots] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'adxemu-html-'));
const problems = [];
const complain = (report, text) => problems.push(`${report}: ${text}`);
const file = (name, text) => {
  const path = join(folder, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
};

const chromiumPath = () =>
  process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

const sites = `
gslb site east
 weight 60
 si-name 198.51.100.1
!
gslb site west
 weight 40
 si-name 198.51.100.2
!
gslb dns zone example.com
 host-info www http
 host-info www ip-list 192.0.2.10
 host-info www ip-list 192.0.2.11
 host-info www ip-list 192.0.2.20
 host-info www ip-list 2001:db8::10
 host-info mail smtp
 host-info mail ip-list 192.0.2.20
 host-info mail ip-list 192.0.2.10
!
gslb policy
 dns cache-proxy
 dns override
 weighted-site
!
emulate si 198.51.100.1 vip 192.0.2.10
emulate si 198.51.100.1 vip 192.0.2.11
emulate si 198.51.100.2 vip 192.0.2.20
`;
const before = file('before.cfg', sites);
const after = file('after.cfg', sites.replace('weight 60', 'weight 10'));
const change = file('change.txt', 'gslb site east\n weight 10\n');

const reports = {
  simulate: ['simulate', before, '-n', '5000'],
  change: ['simulate', before, '-n', '5000', '--change', change, '--at', '2000'],
  caches: ['simulate', before, '-n', '5000', '--compare', after, '--resolvers', '7', '--cache'],
  failures: ['failures', before],
  audit: ['audit', before],
};

const percent = (share) => `${(share * 100).toFixed(1)}%`;
const rowsOf = (table) => table.map((row) => row.join('|'));

// The rows that the tables of a report must hold, from its JSON document.
function expected(name, data) {
  if (name === 'audit') {
    return data.hosts.flatMap((host) =>
      host.addresses.map((one) =>
        [one.address, one.site ?? '-', one.device ?? '-', one.weight ?? '-', one.hash_weight ?? '-', one.healthy ? 'healthy' : 'failed'].join('|')));
  }
  if (name === 'failures') {
    return [...data.single.worst, ...data.double.worst].map((one) =>
      [one.failed.join('and '), percent(one.dead_share), percent(one.moved_share)].join('|'));
  }
  const cells = (side) => {
    if (side === null) return Array(data.input.caches ? 6 : 4).fill('-');
    const clients = data.input.caches ? [side.received, percent(side.received_share)] : [];
    const difference = side.difference === null ? '-' : (side.difference * 100).toFixed(1);
    const signed = difference === '-' || Number(difference) === 0 ? difference.replace('-0.0', '0.0') : (side.difference > 0 ? '+' : '') + difference;
    return [side.selected, percent(side.selected_share), ...clients, side.ideal_share === null ? '-' : percent(side.ideal_share), signed];
  };
  return data.domains.flatMap((domain) =>
    domain.addresses.map((row) => [row.answer ?? 'no address', row.site ?? '-', ...row.sides.flatMap(cells)].join('|')));
}

const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
try {
  for (const [name, args] of Object.entries(reports)) {
    const html = file(`${name}.html`);
    const json = file(`${name}.json`);
    execFileSync(binary, [...args, '--html', html, '--json', json]);
    const page = await browser.newPage({ viewport: { width: 1100, height: 900 } });
    page.on('request', (request) => {
      if (request.url() !== pathToFileURL(html).href) complain(name, `asks for ${request.url()}`);
    });
    page.on('console', (message) => complain(name, `console: ${message.text()}`));
    page.on('pageerror', (error) => complain(name, `error: ${error}`));
    await page.goto(pathToFileURL(html).href);
    if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });

    const data = JSON.parse(readFileSync(json, 'utf8'));
    const embedded = JSON.parse(await page.textContent('#data'));
    if (JSON.stringify(embedded) !== JSON.stringify(data)) complain(name, 'the data in the page are not those of the JSON document');
    const shown = rowsOf(await page.$$eval('tbody tr', (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim()))));
    const wanted = expected(name, data);
    if (wanted.length === 0) complain(name, 'there is nothing to compare');
    for (const row of wanted) {
      if (!shown.some((one) => one === row || (name === 'failures' && one.startsWith(`${row}|`)))) complain(name, `no row says ${row}`);
    }

    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    for (const violation of found.violations) {
      complain(name, `axe: ${violation.id}: ${violation.help} (${violation.nodes.map((node) => node.target.join(' ')).join(', ')})`);
    }
    console.log(`${name}: ${wanted.length} rows compared, ${found.passes?.length ?? 0} rules of axe pass`);
    await page.close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

//! The check of a secure web server: a whole TLS handshake.
//!
//! As on the device the certificate does not matter (remembered): an address of a test set-up has
//! none that anybody would believe, and nothing is told to the server. Its signature is verified,
//! so the server does hold the key.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};

use super::words;

static CONFIGURATION: LazyLock<Result<Arc<ClientConfig>, Error>> = LazyLock::new(|| {
    let provider = Arc::new(ring::default_provider());
    let any = Arc::new(AnyCertificate(Arc::clone(&provider)));
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = builder.dangerous().with_custom_certificate_verifier(any);
    Ok(Arc::new(builder.with_no_client_auth()))
});

/// Shakes hands, and takes leave.
pub(super) async fn shake_hands(stream: TcpStream, address: IpAddr) -> Result<(), String> {
    let configuration = CONFIGURATION.as_ref().map_err(ToString::to_string)?;
    let connector = TlsConnector::from(Arc::clone(configuration));
    // An address as the name sends none (RFC 6066 section 3).
    let handshake = connector.connect(ServerName::from(address), stream);
    let mut secured =
        handshake.await.map_err(|error| format!("no handshake: {}", words(&error)))?;
    let _ = secured.shutdown().await;
    Ok(())
}

/// Takes any certificate.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

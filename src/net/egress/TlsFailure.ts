/**
 * Reason for which a TLS handshake failed, by the code of Node's or OpenSSL's error, and its remedy. Pure; nothing of
 * the peer's is in the text.
 */

export type TlsProblem =
  | "self_signed"
  | "expired"
  | "not_yet_valid"
  | "other_host"
  | "unknown_issuer"
  | "revoked"
  | "client_certificate"
  | "not_tls"
  | "protocol"
  | "closed"
  | "other"

const byCode: Readonly<Record<string, TlsProblem>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "self_signed",
  SELF_SIGNED_CERT_IN_CHAIN: "unknown_issuer",
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "not_yet_valid",
  ERR_TLS_CERT_ALTNAME_INVALID: "other_host",
  HOSTNAME_MISMATCH: "other_host",
  UNABLE_TO_GET_ISSUER_CERT: "unknown_issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "unknown_issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "unknown_issuer",
  CERT_UNTRUSTED: "unknown_issuer",
  INVALID_CA: "unknown_issuer",
  CERT_SIGNATURE_FAILURE: "unknown_issuer",
  CERT_REVOKED: "revoked",
  ERR_SSL_WRONG_VERSION_NUMBER: "not_tls",
  ERR_SSL_HTTP_REQUEST: "not_tls",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "not_tls",
  ECONNRESET: "closed",
  EPIPE: "closed"
}

export const tlsProblemOf = (code: string | undefined): TlsProblem => {
  if (code === undefined) return "other"
  const known = byCode[code]
  if (known !== undefined) return known
  if (/CERTIFICATE_REQUIRED/.test(code)) return "client_certificate"
  return /^ERR_SSL_|^EPROTO$/.test(code) ? "protocol" : "other"
}

const authority =
  "Name its authority in NODE_EXTRA_CA_CERTS (a PEM file, read at start) or in transport.ca of the connection."

/** Description of each problem, and its remedy. */
export const tlsReasons: Readonly<Record<TlsProblem, string>> = {
  self_signed: `its certificate is self-signed, and not trusted. ${authority.replace("its authority", "it")}`,
  expired: "its certificate has expired. Renew it there; if it is still good, the clock of this machine is wrong.",
  not_yet_valid: "its certificate is not valid yet. The clock of this machine may be wrong.",
  other_host:
    "its certificate is for another host. Use the name that the certificate has, or set transport.serverName of the connection.",
  unknown_issuer: `the issuer of its certificate is not known here: a private authority, a proxy that opens TLS, or an intermediate certificate that the server does not send. ${authority}`,
  revoked: "its certificate was revoked.",
  client_certificate:
    "it wants a certificate of the client. Set transport.certificate and transport.key of the connection.",
  not_tls: "it does not speak TLS at this port. Use http:// if it is a plain server, or its port for https.",
  protocol: "no common TLS version or cipher was found. The server may be too old: TLS 1.2 or newer is needed.",
  closed:
    "the connection was closed during the handshake. The server may want another host name or a client's certificate.",
  other: "the certificate or the handshake is not right."
}

/** The parts of node-forge that build certificates. Its parsers are not declared: what comes from others is read by Node alone. */
declare module "node-forge/lib/asn1.js" {
  export interface Asn1Value {
    readonly tagClass: number
  }
  const asn1: {
    readonly Type: { readonly UTF8: number }
    readonly toDer: (value: Asn1Value) => { readonly getBytes: () => string }
  }
  export default asn1
}

declare module "node-forge/lib/x509.js" {
  import type { Asn1Value } from "node-forge/lib/asn1.js"
  type Bytes = string
  interface Attribute {
    readonly name: string
    readonly value: string
    readonly valueTagClass: number
  }
  interface Certificate {
    publicKey: unknown
    serialNumber: string
    signature: Bytes
    signatureOid: string
    readonly siginfo: { algorithmOid: string }
    readonly validity: { notBefore: Date; notAfter: Date }
    readonly setSubject: (attributes: ReadonlyArray<Attribute>) => void
    readonly setIssuer: (attributes: ReadonlyArray<Attribute>) => void
    readonly setExtensions: (extensions: ReadonlyArray<Readonly<Record<string, unknown>>>) => void
    readonly generateSubjectKeyIdentifier: () => { readonly getBytes: () => Bytes }
  }
  const pki: {
    readonly oids: { readonly sha256WithRSAEncryption: string }
    readonly createCertificate: () => Certificate
    readonly publicKeyFromPem: (pem: string) => unknown
    readonly getTBSCertificate: (certificate: Certificate) => Asn1Value
    readonly certificateToPem: (certificate: Certificate) => string
  }
  export default pki
}

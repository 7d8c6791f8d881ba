/**
 * A certificate authority of this machine. node-forge puts the certificates together; keys are made and certificates signed by Node's own
 * crypto, off the event loop. A session's authority is made anew and its key is never written anywhere; one that lasts is restored from
 * what `exported` gave, which Node reads.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate
} from "node:crypto"
import { isIP } from "node:net"
import { promisify } from "node:util"
import asn1 from "node-forge/lib/asn1.js"
import pki from "node-forge/lib/x509.js"

/** PEM texts. */
export interface KeptAuthority {
  readonly certificate: string
  readonly privateKey: Redacted.Redacted
}

export interface IssuedCertificate {
  /** PEM. */
  readonly certificate: string
  readonly expiresAtMs: number
}

export interface CertificateAuthority {
  /** PEM. */
  readonly certificate: string
  readonly subject: string
  /** Hexadecimal, in lower case. */
  readonly serial: string
  /** SHA-256 of the certificate, hexadecimal in lower case. */
  readonly sha256: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly exported: () => KeptAuthority
  /** `name` has passed `certificateName`. The certificate is for a server with this key. */
  readonly issue: (name: string, key: KeyObject, nowMs: number) => Promise<IssuedCertificate>
}

/** Error of stored files that are no authority, or of a certificate and key that do not belong together. */
export class NotAnAuthority extends Data.TaggedError("NotAnAuthority") {}

const keyBits = 2048
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const leafDays = 365
const authorityYears = 10
/** Clocks of clients may be a little behind. */
const backdatedMs = hourMs
/** Most characters of a common name (RFC 5280, appendix A.1). The alternative name has all of it. */
const maxCommonNameChars = 64
const organization = "Gateway"

const generate = promisify(generateKeyPair)
const signAsync = promisify(sign)

/** A key pair for certificates, made on the thread pool. */
export const makeKey: Effect.Effect<KeyObject> = Effect.promise(() =>
  generate("rsa", { modulusLength: keyBits }).then(({ privateKey }) => privateKey)
)

const named = (commonName: string) => [
  { name: "commonName", value: commonName, valueTagClass: asn1.Type.UTF8 },
  { name: "organizationName", value: organization, valueTagClass: asn1.Type.UTF8 }
]

/** Positive and of a fixed length. */
const makeSerial = (): string => {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString("hex")
}

const publicKeyOf = (key: KeyObject): unknown =>
  pki.publicKeyFromPem(createPublicKey(key).export({ type: "spki", format: "pem" }).toString())

interface CertificateFields {
  readonly subject: string
  readonly issuer: string
  readonly publicKey: unknown
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly extensions: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const build = async (fields: CertificateFields, signer: KeyObject): Promise<string> => {
  const certificate = pki.createCertificate()
  certificate.publicKey = fields.publicKey
  certificate.serialNumber = makeSerial()
  certificate.validity.notBefore = new Date(fields.notBeforeMs)
  certificate.validity.notAfter = new Date(fields.notAfterMs)
  certificate.setSubject(named(fields.subject))
  certificate.setIssuer(named(fields.issuer))
  certificate.setExtensions(fields.extensions)
  certificate.signatureOid = pki.oids.sha256WithRSAEncryption
  certificate.siginfo.algorithmOid = pki.oids.sha256WithRSAEncryption
  const unsigned = Buffer.from(asn1.toDer(pki.getTBSCertificate(certificate)).getBytes(), "latin1")
  certificate.signature = (await signAsync("sha256", unsigned, signer)).toString("latin1")
  return pki.certificateToPem(certificate)
}

/** Reads the one common name that `named` wrote. */
const commonNameOf = (certificate: X509Certificate): string | null =>
  /^CN=(.+)$/mu.exec(certificate.subject)?.[1] ?? null

const alternativeName = (name: string) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })

const authorityOf = (pem: string, commonName: string, key: KeyObject): CertificateAuthority => {
  const read = new X509Certificate(pem)
  const probe = pki.createCertificate()
  probe.publicKey = publicKeyOf(key)
  const keyIdentifier = probe.generateSubjectKeyIdentifier().getBytes()
  /** All leaves have the same key. */
  let lastKey: { readonly key: KeyObject; readonly publicKey: unknown } | null = null

  return {
    certificate: pem,
    subject: read.subject.replaceAll("\n", ", "),
    serial: read.serialNumber.toLowerCase(),
    sha256: createHash("sha256").update(read.raw).digest("hex"),
    notBeforeMs: Date.parse(read.validFrom),
    notAfterMs: Date.parse(read.validTo),
    exported: () => ({
      certificate: pem,
      privateKey: Redacted.make(key.export({ type: "pkcs8", format: "pem" }).toString())
    }),
    issue: async (name, leafKey, nowMs) => {
      if (lastKey?.key !== leafKey) lastKey = { key: leafKey, publicKey: publicKeyOf(leafKey) }
      const notBeforeMs = nowMs - backdatedMs
      const expiresAtMs = notBeforeMs + leafDays * dayMs
      const certificate = await build(
        {
          subject: name.slice(0, maxCommonNameChars),
          issuer: commonName,
          publicKey: lastKey.publicKey,
          notBeforeMs,
          notAfterMs: expiresAtMs,
          extensions: [
            { name: "basicConstraints", cA: false, critical: true },
            { name: "keyUsage", digitalSignature: true, keyEncipherment: true, critical: true },
            { name: "extKeyUsage", serverAuth: true },
            { name: "subjectAltName", altNames: [alternativeName(name)] },
            { name: "subjectKeyIdentifier" },
            { name: "authorityKeyIdentifier", keyIdentifier }
          ]
        },
        key
      )
      return { certificate, expiresAtMs }
    }
  }
}

/**
 * Makes a new authority, valid for ten years. A few letters at the end of its name distinguish it from those before it.
 */
export const make = Effect.fn("CertificateAuthority.make")(function* (purpose: string) {
  const nowMs = yield* Clock.currentTimeMillis
  const key = yield* makeKey
  const commonName = `${purpose} ${randomBytes(4).toString("hex")}`
  const notBeforeMs = nowMs - backdatedMs
  const end = new Date(notBeforeMs)
  end.setUTCFullYear(end.getUTCFullYear() + authorityYears)
  const pem = yield* Effect.promise(() =>
    build(
      {
        subject: commonName,
        issuer: commonName,
        publicKey: publicKeyOf(key),
        notBeforeMs,
        notAfterMs: end.getTime(),
        extensions: [
          { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
          { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
          { name: "subjectKeyIdentifier" }
        ]
      },
      key
    )
  )
  return authorityOf(pem, commonName, key)
})

/** The authority that `exported` gave. */
export const restore = (kept: KeptAuthority): Effect.Effect<CertificateAuthority, NotAnAuthority> =>
  Effect.try({
    try: () => {
      const read = new X509Certificate(kept.certificate)
      const key = createPrivateKey(Redacted.value(kept.privateKey))
      const commonName = commonNameOf(read)
      if (commonName === null || !read.ca || !read.checkPrivateKey(key)) return null
      return authorityOf(kept.certificate, commonName, key)
    },
    catch: () => new NotAnAuthority()
  }).pipe(Effect.flatMap((found) => (found === null ? Effect.fail(new NotAnAuthority()) : Effect.succeed(found))))

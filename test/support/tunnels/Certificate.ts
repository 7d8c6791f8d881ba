/** A certificate for `localhost` and other names that signs itself, made anew for each test: no key is kept in the repository. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto"

export interface Certificate {
  readonly certPem: string
  readonly keyPem: string
}

const tags = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17
}

const der = (tag: number, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body])
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, "0"), "hex")
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body])
}

const oids = { ecdsaSha256: "2a8648ce3d040302", commonName: "550403", subjectAltName: "551d11" }
const oid = (name: keyof typeof oids): Buffer => der(tags.oid, Buffer.from(oids[name], "hex"))

/** `YYMMDDHHMMSSZ` */
const utcTime = (date: Date): Buffer =>
  der(tags.utcTime, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/gu, "")}Z`))

const pem = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64").replaceAll(/.{64}/gu, "$&\n").trimEnd()}\n-----END CERTIFICATE-----\n`

const hourMs = 3_600_000

/** `others`: more host names, also `*.example.com`. */
export const makeCertificate = (others: ReadonlyArray<string> = []): Certificate => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const algorithm = der(tags.sequence, oid("ecdsaSha256"))
  const name = der(
    tags.sequence,
    der(tags.set, der(tags.sequence, oid("commonName"), der(tags.utf8, Buffer.from("localhost"))))
  )
  const hosts = ["localhost", ...others].map((host) => der(0x82, Buffer.from(host)))
  const names = der(tags.sequence, ...hosts, der(0x87, Buffer.from([127, 0, 0, 1])))
  const now = Date.now()
  const content = der(
    tags.sequence,
    der(0xa0, der(tags.integer, Buffer.from([2]))),
    der(tags.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    der(tags.sequence, utcTime(new Date(now - hourMs)), utcTime(new Date(now + 24 * hourMs))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, der(tags.sequence, der(tags.sequence, oid("subjectAltName"), der(tags.octets, names))))
  )
  const signature = sign("sha256", content, privateKey)
  return {
    certPem: pem(der(tags.sequence, content, algorithm, der(tags.bits, Buffer.from([0]), signature))),
    keyPem: privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  }
}

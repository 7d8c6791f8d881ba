/** Schemas that the groups of capture share. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { exampleTime } from "../Examples.ts"
import { optional } from "../Inputs.ts"

const maxPasswordChars = 1_024

/** Used for one call and not kept. A line break in it would answer a second question of `sudo`. */
export const SudoPassword = field(
  optional(
    Schema.Redacted(
      Schema.String.pipe(
        Schema.minLength(1, { message: () => "must not be empty" }),
        Schema.maxLength(maxPasswordChars, { message: () => `must have at most ${maxPasswordChars} characters` }),
        Schema.pattern(/^\P{Cc}*$/u, { message: () => "must not hold control characters" })
      ).annotations({ examples: ["your-password"] })
    )
  ),
  "Your password for `sudo`, where the gateway is not root. It is used for this call and not kept."
)

export const CertificateView = Schema.Struct({
  subject: field(Schema.String, "Its name.", "CN=Gateway traffic inspector 5f2a9c01, O=Gateway"),
  serial: field(Schema.String, "Its serial number, hexadecimal.", "4f2a9c01b7de"),
  sha256: field(Schema.String, "Its fingerprint, hexadecimal.", "9f86d081884c7d65"),
  notBefore: field(Schema.String, "When it begins to be valid, ISO 8601.", exampleTime),
  notAfter: field(Schema.String, "When it ends to be valid, ISO 8601.", "2036-11-24T00:00:00.000Z"),
  trusted: field(Schema.Boolean, "Whether the trust store of this system has it.", false)
}).annotations({ identifier: "CaptureCertificate" })
export type CertificateView = typeof CertificateView.Type

export const MaybeCertificate = field(
  Schema.NullOr(CertificateView),
  "The certificate of the authority; null while none was made.",
  null
)

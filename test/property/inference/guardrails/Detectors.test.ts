/** Every kind of finding is found wherever a stream is split: with the detectors that the gateway has. */
import { assert, describe, it } from "@effect/vitest"
import { redact } from "../../../../src/plane/guard/Detectors.ts"
import { codecs } from "../../../../src/wire/Codec.ts"
import { textGuard } from "../../../support/PersonalData.ts"
import { bySingleCharacters, filtered, partsOf, streamOf, textOf, twice } from "./support.ts"

const options = { disabled: new Set<string>(), custom: [] }
const guard = textGuard(options)
const codec = codecs.chat

const body = Array.from(
  { length: 24 },
  (_, line) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDline${String(line).padStart(2, "0")}`
)

const samples: Readonly<Record<string, string>> = {
  email: "Write to john.doe+x@mail.example.com, please",
  "email with quotes": 'He said "john@example.org".',
  phone: "call +49 30 901820 or (212) 555-0123 now",
  "phone of the US": "call 212-555-0123 or +1 (212) 555-0123!",
  ssn: "SSN 536-22-8726, noted",
  card: "card 4111 1111 1111 1111 and 5500-0000-0000-0004 end",
  "card without groups": "4111111111111111",
  "IBAN in groups": "pay DE89 3704 0044 0532 0130 00 today",
  "IBAN with letters": "pay GB29 NWBK 6016 1331 9268 19 today",
  "IBAN without groups": "pay GB29NWBK60161331926819 today",
  "IPv4 and IPv6": "from 81.2.69.142 to 2a02:2e0:3fe:1001:302::",
  cpf: "CPF 529.982.247-25 e CNPJ 11.222.333/0001-81.",
  "key of OpenAI": "use sk-proj-abcdefghij0123456789ABCDEFGHIJ here",
  "key of AWS": "AKIAIOSFODNN7EXAMPLE is it",
  assignment: 'api_key = "a1b2c3d4e5f6a7b8c9d0e1f2" and "client_secret": "zYxWv9876543210abcdefXYZ"',
  bearer: "Authorization: Bearer abcdef0123456789abcdef0123456789",
  address: "postgres://admin:s3cr3tPass@db.example.com/x",
  "private key": `key:\n-----BEGIN RSA PRIVATE KEY-----\n${body.join("\n")}\n-----END RSA PRIVATE KEY-----\nend`,
  token: `eyJ${"abcdef012345".repeat(20)}.eyJ${"ABCdef678".repeat(30)}.${"sig_-0".repeat(8)} end`
}

describe("a finding in a split stream", () => {
  for (const [name, text] of Object.entries(samples)) {
    it(`${name}: is what it is in the whole text`, () => {
      const { findings, text: expected } = redact(text, options)
      assert.isAbove(findings.length, 0, "the sample has no finding")
      const got = (stream: string): string => textOf(partsOf(codec, filtered(codec, guard, [stream]).text), "text")
      for (let at = 1; at < text.length; at += 1) {
        assert.strictEqual(got(streamOf(codec, [{ type: "text", text }], twice(at))), expected, `split at ${at}`)
      }
      assert.strictEqual(got(streamOf(codec, [{ type: "text", text }], bySingleCharacters)), expected)
    })
  }
})

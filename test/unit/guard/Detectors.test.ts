import { assert, describe, it } from "@effect/vitest"
import { findPersonalData, openFrom, redact } from "../../../src/plane/guard/Detectors.ts"

const all = { disabled: new Set<string>(), custom: [] }
const redacted = (text: string): string => redact(text, all).text

const privateKey = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7\n".repeat(8)}-----END RSA PRIVATE KEY-----`

/** What stands between `<` and `>` is found. */
const positives: Readonly<Record<string, ReadonlyArray<string>>> = {
  email: [
    "Write to <jane.doe+news@mail.example.co.uk>.",
    "mailto:<a_b@example.com>?subject=x",
    '{"to":"<x@example.org>"}',
    "<o'neil@example.ie>, please"
  ],
  "credit-card": [
    "card <4111 1111 1111 1111>, thanks",
    "<5500-0000-0000-0004>",
    "<378282246310005>",
    "pay with <6011111111111117>!"
  ],
  ssn: ["SSN <123-45-6789>", "her number: <123 45 6789>.", "ssn: <123456789>"],
  iban: ["IBAN <DE89 3704 0044 0532 0130 00> please", "<GB82WEST12345698765432>", "to <FR1420041010050500013M02606>."],
  phone: [
    "call <+49 151 12345678>",
    "<(415) 555-2671>",
    "<415-555-2671> or so",
    "<1-415-555-2671>",
    "<+14155552671>",
    "ligue <(11) 91234-5678>"
  ],
  cpf: ["CPF <529.982.247-25>"],
  cnpj: ["CNPJ <11.222.333/0001-81>"],
  ip: ["from <203.0.113.7>:8080", "host <2001:db8::8a2e:370:7334> up", "<192.168.1.20>", "<fe80::1ff:fe23:4567:890a>"],
  "api-key": [
    "key <sk-proj-abcdefghijklmnopqrstuvwx1234567890>",
    "<AKIAIOSFODNN7EXAMPLE>",
    "<AIzaSyA1234567890abcdefghijklmnopqrstuv>",
    "token <eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c>",
    "postgres://<admin:s3cr3t-pw>@db.example.com/x",
    "api_key = '<a8f5f167f44f4964e6c998dee827110c>'",
    `<${privateKey}>`,
    "<xoxb-123456789012-abcdefghij>"
  ]
}

const negatives: ReadonlyArray<string> = [
  "version 1.2.3.4 and v10.20.30.40, foo@1.2.3.4",
  "127.0.0.1:8080 0.0.0.0 255.255.255.0 ::1",
  "at 12:30:45 on 2026-11-23T12:30:45.123Z",
  "std::vector<int> a::b::c dead::beef Foo::new()",
  "icon@2x.png, git@github.com:owner/name.git, @scope/package, user@localhost",
  "4111 1111 1111 1112 and 1234567890123456 and 1732381234567",
  "000-12-3456 666-12-3456 900-12-3456 123-00-4567 2026-11-2345",
  "DE89 3704 0044 0532 0130 01 and GB00WEST12345698765432",
  "550e8400-e29b-41d4-a716-446655440000 d41d8cd98f00b204e9800998ecf8427e",
  "4155552671 is a number, 3.14159265358979, 1,234,567.89, $12.345.678",
  "sk-learn-is-a-library-of-models-without-a-digit task-1234567890123456789012",
  "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "postgres://user:${PASSWORD}@host/db https://example.com:8080/a@b",
  "529.982.247-26 11.222.333/0001-80",
  "lines 100-200-3000, 555-1234, 12-34-56"
]

describe("personal data", () => {
  for (const [detector, texts] of Object.entries(positives)) {
    for (const marked of texts) {
      it(`${detector}: ${marked.slice(0, 60).replaceAll("\n", " ")}`, () => {
        const start = marked.indexOf("<")
        const end = marked.lastIndexOf(">") - 1
        const text = marked.slice(0, start) + marked.slice(start + 1, end + 1) + marked.slice(end + 2)
        const found = findPersonalData(text, all)
        assert.deepStrictEqual(
          found.map((each) => [each.detector, each.start, each.end]),
          [[detector, start, end]]
        )
      })
      it(`${detector}: is open until it ends: ${marked.slice(0, 60).replaceAll("\n", " ")}`, () => {
        const text = marked.replace("<", "").replace(/>(?!.*>)/s, "")
        for (const { end, start } of findPersonalData(text, all)) {
          for (let cut = start + 1; cut < end; cut += 1) {
            assert.isAtMost(openFrom(text.slice(0, cut), all), start, `cut at ${cut}`)
          }
        }
      })
    }
  }

  for (const text of negatives) {
    it(`leaves ${text.slice(0, 60)}`, () => {
      assert.strictEqual(redacted(text), text)
    })
  }

  it("puts a placeholder in place of each, and finds nothing in what it has made", () => {
    const once = redacted("a@example.com paid 4111111111111111 from 203.0.113.9, call +49 151 12345678.")
    assert.strictEqual(once, "[EMAIL_REDACTED] paid [CREDIT_CARD_REDACTED] from [IP_REDACTED], call [PHONE_REDACTED].")
    assert.strictEqual(redacted(once), once)
  })

  it("runs no detector that is switched off", () => {
    const text = "a@example.com 203.0.113.9"
    assert.strictEqual(redact(text, { disabled: new Set(["email"]), custom: [] }).text, "a@example.com [IP_REDACTED]")
  })

  it("holds back no more than a word of ordinary text", () => {
    const text = "The quick brown fox jumps over the lazy dog in 2026 and"
    assert.strictEqual(openFrom(text, all), text.length - 3)
    assert.strictEqual(openFrom("日本語の文章です", all), 8)
  })

  it("leave a token whose check sum is wrong, but not what stands behind a word for secrets", () => {
    const wrong = "ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h"
    assert.deepStrictEqual(findPersonalData(`Like ${wrong} here`, all), [])
    assert.deepInclude(findPersonalData(`access_token=${wrong}`, all)[0], { detector: "api-key", start: 13 })
  })
})

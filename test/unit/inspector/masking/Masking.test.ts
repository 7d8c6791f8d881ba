import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import { findSecrets } from "../../../../src/observe/inspector/masking/FindSecrets.ts"
import {
  makeStreamMasker,
  maskForm,
  maskHeader,
  maskHeaders,
  maskText,
  maskUrl,
  maskValue
} from "../../../../src/observe/inspector/masking/Masking.ts"
import { coreOf, privateKey, secretNames, shapedSecrets } from "../../../support/KindsOfSecrets.ts"

const kinds = Object.entries(shapedSecrets)
const value = "f7Gh2kLm9Qw4Zx8Vb_1Nc"

const isMasked = (text: string, secret: string, note: string): void => {
  assert.notInclude(text, secret, note)
  assert.notInclude(text, coreOf(secret), note)
  assert.include(text, "***", note)
}

const inJson = (text: string): string =>
  JSON.stringify({ messages: [{ role: "user", content: `look: ${text} ok` }], n: 1 })

describe("the masker", () => {
  it("knows more than forty kinds of secret by how they look", () => {
    assert.isAbove(kinds.length, 40)
    for (const [kind, secret] of kinds) {
      isMasked(maskText(secret), secret, kind)
      isMasked(maskText(`before ${secret}, after`), secret, kind)
      isMasked(maskText(`"${secret}"`), secret, kind)
      isMasked(maskText(`x\n${secret}\ny`), secret, kind)
    }
  })

  it("masks them in JSON, in JSON within JSON, in forms and in headers, and leaves JSON valid", () => {
    for (const [kind, secret] of kinds) {
      const json = maskText(inJson(`\n${secret}`))
      isMasked(json, secret, kind)
      assert.match(JSON.parse(json).messages[0].content, /^look: [\s\S]* ok$/, kind)
      const nested = maskText(inJson(inJson(`\n${secret}\n`)))
      isMasked(nested, secret, kind)
      assert.isString(JSON.parse(JSON.parse(nested).messages[0].content.slice(6, -3)).messages[0].content, kind)
      const header = secret.replaceAll("\n", " ")
      isMasked(maskHeader("x-note", header), secret, kind)
      isMasked(maskHeader("x-note", `a=1; b=${header}`), secret, kind)
    }
  })

  it("masks them in the queries of addresses, encoded or not", () => {
    for (const [kind, secret] of kinds) {
      for (const name of ["note", "api_key"]) {
        const encoded = encodeURIComponent(secret)
        isMasked(maskUrl(`/v1/models?a=1&${name}=${encoded}&b=2`), secret, kind)
        assert.match(maskUrl(`/v1/models?a=1&${name}=${encoded}&b=2`), /^\/v1\/models\?a=1&\w+=.*&b=2$/, kind)
        isMasked(decodeURIComponent(maskUrl(`/x?${name}=${encoded}`)), secret, kind)
        isMasked(decodeURIComponent(maskForm(`${name}=${encoded}&next=1`)), secret, kind)
      }
    }
  })

  it("masks values by the names they stand behind, in every notation", () => {
    for (const name of secretNames) {
      const texts = [
        JSON.stringify({ a: 1, [name]: value, b: "kept" }),
        JSON.stringify({ args: JSON.stringify({ [name]: value, b: "kept" }) }),
        JSON.stringify({ args: JSON.stringify({ deep: JSON.stringify({ [name]: value, b: "kept" }) }) }),
        `{'${name}': '${value}', 'b': 'kept'}`,
        `${name}=${value}&b=kept`,
        `${name}: ${value}\nb: kept`,
        `${name} = ${value}\nb = kept`,
        `export ${name}="${value}" # kept`,
        `tool --${name} ${value} kept`,
        `curl -H "${name}: ${value}" kept`,
        `<${name}>${value}</${name}><b>kept</b>`,
        `form[${name}]=${value}&b=kept`,
        `a%26${name}%3D${value}%26b%3Dkept`,
        `{"${name}"\\u003d"${value}"} kept`,
        `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--x kept`
      ]
      for (const text of texts) {
        const masked = maskText(text)
        isMasked(masked, value, `${name}: ${text}`)
        assert.include(masked, "kept", `${name}: ${text}`)
        assert.include(masked, "***_1Nc", text)
      }
    }
  })

  it("shows the kind and the last four characters, and nothing of a short secret", () => {
    assert.strictEqual(maskText(`sk-ant-${"x".repeat(20)}wxyz`), "sk-ant-***wxyz")
    assert.strictEqual(maskText(`authorization: Bearer ${"x".repeat(20)}wxyz`), "authorization: Bearer ***wxyz")
    assert.strictEqual(maskHeader("Authorization", `Bearer ${"x".repeat(20)}wxyz`), "Bearer ***wxyz")
    assert.strictEqual(maskHeader("Authorization", "Bearer short"), "Bearer ***")
    assert.strictEqual(maskHeader("x-api-key", "short"), "***")
    assert.strictEqual(maskText('{"password":"hunter2"}'), '{"password":"***"}')
    assert.strictEqual(maskText('{"password":12345678}'), '{"password":"***"}')
    assert.strictEqual(maskText("https://ada:hunter2@example.com/x"), "https://ada:***@example.com/x")
    assert.strictEqual(maskText('"https:\\/\\/ada:hunter2@example.com"'), '"https:\\/\\/ada:***@example.com"')
    assert.strictEqual(maskText(privateKey), "-----BEGIN RSA PRIVATE KEY-----***")
    assert.strictEqual(maskHeader("cookie", "theme=dark; sid=f7Gh2kLm9Qw4Zx8V"), "theme=***; sid=***Zx8V")
    assert.strictEqual(
      maskHeader("set-cookie", "sid=f7Gh2kLm9Qw4Zx8V; Path=/; HttpOnly\nb=c"),
      "sid=***Zx8V; Path=/; HttpOnly\nb=***"
    )
    assert.strictEqual(maskUrl("/v1/models?key=f7Gh2kLm9Qw4Zx8V&alt=sse"), "/v1/models?key=***Zx8V&alt=sse")
  })

  it("masks sensitive headers whatever they hold, and leaves the others alone", () => {
    const headers = {
      authorization: "opaque",
      "proxy-authorization": "Basic YTpi",
      cookie: "a=b",
      "set-cookie": "a=b",
      "api-key": "k",
      "x-api-key": "k",
      "x-goog-api-key": "k",
      "x-auth-token": "t",
      "x-amz-security-token": "t",
      "x-csrf-token": "t",
      "x-session-id": "s"
    }
    for (const [name, masked] of Object.entries(maskHeaders(headers))) assert.include(masked, "***", name)
    const plain = {
      "content-type": "application/json; charset=utf-8",
      "anthropic-version": "2023-06-01",
      "x-ratelimit-remaining-tokens": "149984",
      "anthropic-ratelimit-tokens-reset": "2026-11-24T10:00:00Z",
      "user-agent": "claude-cli/2.1.0 (external, cli)",
      "x-request-id": "req_011CSHoEeqs5C35K2UUqR7Fy",
      etag: 'W/"33a64df551425fcc55e4d42a148795d9f25f89d4"',
      "www-authenticate": 'Bearer realm="api"',
      "x-amzn-requestid": "5f2c1ad0-0000-4000-8000-000000000000"
    }
    assert.deepStrictEqual(maskHeaders(plain), plain)
  })

  it("leaves alone what only looks similar", () => {
    const texts = [
      '{"model":"gpt-5","max_tokens":100,"prompt_tokens":12345,"next_page_token":null,"eos_token":"<|endoftext|>"}',
      '{"type":"object","properties":{"password":{"type":"string"},"token":{"type":"string"}},"required":["password"]}',
      '{"token":"Hello","logprob":-0.1}',
      "The bearer of this letter needs a basic understanding of token budgets.",
      "const password = readPassword()\nconst token = lexer.next.token",
      'api_key: "$GATEWAY_API_KEY"',
      "api_key=${OPENAI_API_KEY}",
      "risk-assessment-of-something-long-and-harmless",
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
      "https://example.com:8443/path?q=1 user@example.com",
      "d41d8cd98f00b204e9800998ecf8427e",
      "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
      "-----BEGIN PUBLIC KEY-----"
    ]
    for (const text of texts) assert.strictEqual(maskText(text), text)
  })

  it("changes nothing of a text that is masked already", () => {
    for (const [kind, secret] of kinds) {
      for (const text of [secret, inJson(secret), `api_key=${secret}`, JSON.stringify({ password: secret })]) {
        const once = maskText(text)
        assert.strictEqual(maskText(once), once, kind)
      }
    }
    assert.strictEqual(maskValue(maskValue(value)), maskValue(value))
  })

  it("masks what is cut off", () => {
    assert.strictEqual(maskText('{"password":"not closed'), '{"password":"***')
    assert.strictEqual(maskText('{"password":"not closed, and long'), '{"password":"***long')
  })
})

describe("the incremental masker", () => {
  const whole = kinds.map(([kind, secret]) => `${kind} ${secret} and then some text.\n`).join("") + " end".repeat(2_000)

  it("gives the same as the masker of whole texts, wherever the text is divided", () => {
    FC.assert(
      FC.property(FC.array(FC.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        const masker = makeStreamMasker()
        let out = ""
        let at = 0
        for (let turn = 0; at < whole.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1
          out += masker.push(whole.slice(at, at + size))
          at += size
        }
        assert.strictEqual(out + masker.end(), maskText(whole))
      }),
      { seed: 20_261_124, numRuns: 30 }
    )
  })

  it("lets no secret through that lies over a division, in JSON", () => {
    for (const [kind, secret] of kinds) {
      const filler = "lorem ipsum ".repeat(900)
      for (const shift of [0, 7, 40]) {
        const text = JSON.stringify({ a: filler + "x".repeat(shift), password: value, b: `\n${secret}\n${filler}` })
        const masker = makeStreamMasker()
        let out = ""
        for (let at = 0; at < text.length; at += 997) out += masker.push(text.slice(at, at + 997))
        out += masker.end()
        isMasked(out, secret, `${kind} ${shift}`)
        assert.notInclude(out, value)
        assert.deepStrictEqual(JSON.parse(out), JSON.parse(maskText(text)), kind)
      }
    }
  })

  it("holds back the end of a text that was cut, where a secret may begin", () => {
    const filler = "lorem ipsum ".repeat(300)
    for (const [kind, secret] of kinds) {
      for (const length of [6, 10, 16, 24, Math.floor(secret.length / 2)]) {
        const masker = makeStreamMasker()
        const out = masker.push(`${filler}${secret.slice(0, length)}`) + masker.end(true)
        assert.isTrue(filler.startsWith(out), `${kind} ${length}`)
        assert.isAbove(out.length, 1_000)
      }
    }
  })

  it("drops what is left of an endless secret, and goes on behind it", () => {
    const masker = makeStreamMasker()
    let out = masker.push("a sk-ant-")
    for (let turn = 0; turn < 40; turn += 1) out += masker.push("k3yK3y".repeat(5_000))
    out += masker.push(' then "b"') + masker.push(" c".repeat(9_000)) + masker.end()
    assert.notInclude(out, "k3yK3yk3yK3y")
    assert.isTrue(out.startsWith("a sk-ant-***"), out.slice(0, 40))
    assert.include(out, ' then "b" c c')
  })
})

describe("findSecrets", () => {
  it("looks at each character a bounded number of times, whatever the text", () => {
    const hostile = [
      "-----BEGIN PRIVATE KEY-----",
      "://",
      "://a:b",
      'password":"',
      "password=",
      "eyJ.",
      "\\\\\\",
      "sk-",
      "--password ",
      "<password>",
      'name="password"\r\n',
      "Bearer ",
      ":",
      "=",
      'a=\\"',
      "%3D",
      "~"
    ]
    // A million characters each: quadratic work would not end within the time of a test.
    for (const piece of hostile) findSecrets(piece.repeat(Math.ceil(1_000_000 / piece.length)))
    for (const piece of hostile) {
      const masker = makeStreamMasker()
      for (let turn = 0; turn < 100; turn += 1) masker.push(piece.repeat(Math.ceil(4_096 / piece.length)))
      masker.end()
    }
  })

  it("finds secrets in their order, none over another, in any text", () => {
    const piece = FC.oneof(
      FC.constantFrom(...Object.values(shapedSecrets)),
      FC.constantFrom(
        "password",
        '"',
        "'",
        "=",
        ":",
        " ",
        "\\",
        "\n",
        "&",
        "--",
        "<",
        ">",
        "Bearer ",
        "://",
        "@",
        "%3D"
      ),
      FC.string({ maxLength: 12 })
    )
    FC.assert(
      FC.property(FC.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join("")
        let last = 0
        for (const { end, kindChars, start } of findSecrets(text)) {
          assert.isAtLeast(start, last)
          assert.isAbove(end, start)
          assert.isAtMost(end, text.length)
          assert.isAtMost(kindChars, end - start)
          last = end
        }
        maskText(text)
        maskUrl(text)
      }),
      { seed: 20_261_124, numRuns: 2_000 }
    )
  })
})

import { assert, describe, it } from "@effect/vitest"
import { failureOf } from "../../../../src/net/tunnels/token/Failure.ts"
import { authTokenProblem } from "../../../../src/net/tunnels/token/AuthToken.ts"

const token = "2abcDEF_secretSecretSecret1234567890"

/** As `@ngrok/ngrok` 1.7.0 words it, with the text of https://ngrok.com/docs/errors/err_ngrok_105 */
const badForm = `failed to connect session: The authtoken you specified does not look like a proper ngrok authtoken.\nYour authtoken: ${token}\nInstructions to install your authtoken are on your ngrok dashboard:\nhttps://dashboard.ngrok.com/get-started/your-authtoken error_code: ERR_NGROK_105`

describe("errors of ngrok", () => {
  it.each(["105", "106", "107", "109", "110", "300", "4018"])("asks for another token on ERR_NGROK_%s", (code) => {
    const failure = failureOf(badForm.replace("105", code), token)
    assert.strictEqual(failure._tag, "TunnelNeedsAuth")
    assert.include(failure.reason, `ERR_NGROK_${code}`)
    if (failure._tag === "TunnelNeedsAuth") {
      assert.strictEqual(failure.authUrl, "https://dashboard.ngrok.com/get-started/your-authtoken")
    }
  })

  it("sends a person to the page where an e-mail address is verified", () => {
    const failure = failureOf("The account may not start. error_code: ERR_NGROK_123", token)
    assert.strictEqual(failure._tag, "TunnelNeedsAuth")
    if (failure._tag === "TunnelNeedsAuth")
      assert.strictEqual(failure.authUrl, "https://dashboard.ngrok.com/user/settings")
  })

  it.each([
    ["103", true],
    ["115", true],
    ["121", true],
    ["108", false],
    ["334", false],
    ["312", false]
  ] as const)("tells ERR_NGROK_%s, and whether trying again is of use", (code, isFinal) => {
    const failure = failureOf(`failed to connect session: Some text. error_code: ERR_NGROK_${code}`, token)
    assert.strictEqual(failure._tag, "TunnelFailed")
    if (failure._tag === "TunnelFailed") assert.strictEqual(failure.isFinal, isFinal)
    assert.include(failure.reason, `ERR_NGROK_${code}`)
  })

  it("shows ngrok's own first sentence for other codes, and says what a session limit is in words", () => {
    assert.strictEqual(
      failureOf("You must reserve an address.\nMore.\n error_code: ERR_NGROK_307", token).reason,
      "ngrok refuses: You must reserve an address (ERR_NGROK_307)."
    )
    assert.include(failureOf("x error_code: ERR_NGROK_108", token).reason, "no more agents at once")
  })

  it("takes an error without a code as one that passes", () => {
    const failure = failureOf("failed to connect session: failed to establish tcp connection", token)
    assert.deepStrictEqual(
      [failure._tag, failure.reason],
      ["TunnelFailed", "ngrok cannot be reached: failed to establish tcp connection."]
    )
  })

  it("never shows the token, however long and strange the text", () => {
    const texts = [
      badForm,
      `${token} ERR_NGROK_999`,
      `failed: ${encodeURIComponent(token)} \u001b[31m${token}`,
      `${"x".repeat(4_080)}${token} ERR_NGROK_999`,
      `${token}${"y".repeat(100_000)}`
    ]
    for (const text of texts) {
      const { reason } = failureOf(text, token)
      assert.notInclude(reason, token)
      assert.notInclude(reason, token.slice(0, 12))
      assert.notMatch(reason, /[\p{Cc}]/u)
      assert.isBelow(reason.length, 400)
    }
  })
})

describe("authtokens", () => {
  it.each([token, "1abc", "cr_2abcDEF"])("takes %s", (text) => {
    assert.isNull(authTokenProblem(text))
  })

  it.each(["", "two words", "line\nbreak", "nul\u0000", "esc\u001b[0m", "ünïcode", "x".repeat(513)])(
    "refuses one that cannot be one, without repeating it",
    (text) => {
      const problem = authTokenProblem(text)
      assert.isNotNull(problem)
      if (text !== "") assert.notInclude(problem, text)
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import type { OAuthEndpoint } from "../../../../src/contract/domain/Provider.ts"
import { fromRaw } from "../../../../src/net/egress/UpstreamHeaders.ts"
import { dueAtMs, holdMs } from "../../../../src/plane/providers/oauth/Freshness.ts"
import { isReplaced, replace } from "../../../../src/plane/providers/TokenReplacement.ts"
import { readAnswer } from "../../../../src/plane/providers/oauth/TokenAnswer.ts"
import { endpointOf, hasBothWays, requestOf, secretsIn } from "../../../../src/plane/providers/oauth/TokenRequest.ts"
import { fromNode, registry } from "../../../../src/plane/providers/Registry.ts"
import { lab, tokens } from "./harness.ts"

const form: OAuthEndpoint = {
  tokenUrl: "https://id.example:8443/t?x=1",
  clientId: null,
  style: "form",
  clientAuth: "basic"
}
const client = tokens({ clientId: "app: 1", clientSecret: Redacted.make("s&cret/ä+") })
const sent = (endpoint: OAuthEndpoint, account = client, way: "basic" | "body" = endpoint.clientAuth) => {
  const request = requestOf(endpoint, Redacted.make("the-refresh"), account, way)
  const at = request.headers.indexOf("authorization")
  return { request, authorization: at < 0 ? null : request.headers[at + 1], body: String(request.body) }
}

describe("token request", () => {
  it("shows the client in one way only, encoded as RFC 6749 2.3.1 says", () => {
    const basic = sent(form)
    assert.strictEqual(
      Buffer.from(basic.authorization?.slice("Basic ".length) ?? "", "base64").toString(),
      "app%3A+1:s%26cret%2F%C3%A4%2B"
    )
    assert.deepStrictEqual([...new URLSearchParams(basic.body).keys()], ["grant_type", "refresh_token"])
    const body = sent(form, client, "body")
    assert.isNull(body.authorization)
    assert.strictEqual(new URLSearchParams(body.body).get("client_secret"), "s&cret/ä+")
    assert.strictEqual(body.request.origin, "https://id.example:8443")
    assert.strictEqual(body.request.path, "/t?x=1")
  })

  it("names a public client in the body, its own before the registry's", () => {
    const open = { ...form, clientId: "registered" }
    assert.strictEqual(new URLSearchParams(sent(open, tokens()).body).get("client_id"), "registered")
    assert.isNull(sent(open, tokens()).authorization)
    const own = sent(open, tokens({ clientId: "own" }))
    assert.strictEqual(new URLSearchParams(own.body).get("client_id"), "own")
    assert.isFalse(hasBothWays(open, tokens({ clientId: "own" })))
    assert.isTrue(hasBothWays(form, client))
  })

  it("writes JSON where the provider wants it", () => {
    const { authorization, body } = sent({ ...form, style: "json", clientAuth: "body" })
    assert.isNull(authorization)
    assert.deepStrictEqual(JSON.parse(body), {
      grant_type: "refresh_token",
      refresh_token: "the-refresh",
      client_id: "app: 1",
      client_secret: "s&cret/ä+"
    })
  })

  it("takes the connection's URL for provider nodes only, and no odd ones", () => {
    const spec = fromNode(lab)
    const at = (tokenUrl: string | null) => endpointOf(spec, tokens({ tokenUrl }))?.tokenUrl ?? null
    assert.strictEqual(at("https://id.example/t"), "https://id.example/t")
    for (const odd of [null, "not a url", "file:///etc/passwd", "https://user:pw@id.example/t"]) assert.isNull(at(odd))
    for (const spec of registry.values()) {
      const endpoint = endpointOf(spec, tokens({ tokenUrl: "https://evil.example/t" }))
      assert.strictEqual(endpoint, spec.oauth)
      if (endpoint !== null) assert.strictEqual(new URL(endpoint.tokenUrl).protocol, "https:")
    }
  })
})

const answer = (status: number, body: unknown, headers: ReadonlyArray<string> = []) =>
  readAnswer(
    {
      status,
      headers: fromRaw(headers.map((text) => Buffer.from(text))),
      body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body))
    },
    secretsIn(client)
  )

describe("token answer", () => {
  it("reads the lifetime in its usual forms, and none where none can be believed", () => {
    const lifetime = (expires_in: unknown) => {
      const read = answer(200, { access_token: "t", expires_in })
      return read._tag === "Renewed" ? read.lifetimeMs : read._tag
    }
    assert.deepStrictEqual([3600, "60", 0.5].map(lifetime), [3_600_000, 60_000, 500])
    assert.deepStrictEqual([0, -1, null, "", "soon", [], undefined].map(lifetime), [
      null,
      null,
      null,
      null,
      null,
      null,
      null
    ])
    assert.strictEqual(lifetime(1e300), 10 * 365 * 86_400_000)
  })

  it("takes no token that could not be sent", () => {
    for (const access_token of ["", 7, null, "a\r\nx: y", "ключ"]) {
      assert.strictEqual(answer(200, { access_token })._tag, "Malformed")
    }
    for (const refresh_token of ["", 7, null, "a\nb"]) {
      const read = answer(200, { access_token: "t", refresh_token })
      assert.isNull(read._tag === "Renewed" ? read.refreshToken : read)
    }
  })

  it.each([
    [400, { error: "invalid_grant" }, "Dead"],
    [401, { error: "invalid_client" }, "ClientRefused"],
    [400, { error: "unauthorized_client" }, "Dead"],
    [200, { error: "bad_refresh_token" }, "Dead"],
    [401, { error: { code: "refresh_token_reused", message: "used" } }, "Dead"],
    [400, { type: "error", error: { type: "invalid_grant" } }, "Dead"],
    [400, { error: "invalid_request" }, "Refused"],
    [400, { error: "slow_down" }, "Refused"],
    [401, "<html>", "Refused"],
    [429, { error: "invalid_grant" }, "Refused"],
    [503, { error: "invalid_grant" }, "Refused"],
    [302, "", "Refused"],
    [200, "<html>", "Malformed"],
    [200, [], "Malformed"],
    [200, "{", "Malformed"]
  ])("%s %j is %s", (status, body, tag) => {
    assert.strictEqual(answer(status, body)._tag, tag)
  })

  it("passes on how long to wait, within reason", () => {
    const wait = (value: string) => {
      const read = answer(429, {}, ["retry-after", value])
      return read._tag === "Refused" ? read.waitMs : read._tag
    }
    assert.deepStrictEqual(["7", "999999999", "soon"].map(wait), [7_000, 3_600_000, null])
  })

  it("repeats no secret, in no form in which it was sent, and no control character", () => {
    const echoed = secretsIn(client).join(" | ")
    const read = answer(400, {
      error: "invalid_grant",
      error_description: `You sent\u0000\n${echoed} ` + "x".repeat(500)
    })
    assert.strictEqual(read._tag, "Dead")
    const words = read._tag === "Dead" ? read.words : ""
    for (const secret of secretsIn(client)) assert.notInclude(words, secret)
    assert.isAtMost(words.length, 200)
    assert.match(words, /^You sent \[redacted\]/)
  })
})

describe("freshness", () => {
  it("renews five minutes before the end, but not in the first part of a short life", () => {
    assert.strictEqual(dueAtMs(3_600_000, null), 3_300_000)
    assert.strictEqual(dueAtMs(3_600_000, 0), 3_300_000)
    assert.strictEqual(dueAtMs(100_000, 0), 80_000)
  })

  it("waits longer with every failure, and as long as it is asked to", () => {
    assert.deepStrictEqual(
      [1, 2, 3, 7, 400].map((n) => holdMs(n, null)),
      [5_000, 10_000, 20_000, 300_000, 300_000]
    )
    assert.strictEqual(holdMs(1, 60_000), 60_000)
  })
})

describe("replacement", () => {
  const turn = (n: number) => tokens({ accessToken: Redacted.make(`a${n}`), refreshToken: Redacted.make(`r${n}`) })

  it("grows while each set follows the one before, and starts again after an operator's", () => {
    const second = replace(replace(null, turn(0), turn(1)), turn(1), turn(2))
    assert.deepStrictEqual(
      [0, 1, 2].map((n) => isReplaced(second, turn(n))),
      [true, true, false]
    )
    const other = replace(second, turn(7), turn(8))
    assert.deepStrictEqual(
      [0, 1, 7, 8].map((n) => isReplaced(other, turn(n))),
      [false, false, true, false]
    )
  })

  it("is bounded", () => {
    let chain = replace(null, turn(0), turn(1))
    for (let n = 1; n < 200; n++) chain = replace(chain, turn(n), turn(n + 1))
    assert.strictEqual(chain.replaced.length, 32)
  })
})

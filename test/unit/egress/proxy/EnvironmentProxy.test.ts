import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { readEnvironmentProxies } from "../../../../src/net/egress/proxy/EnvironmentProxy.ts"

const read = (environment: Readonly<Record<string, string>>) =>
  readEnvironmentProxies(new Map(Object.entries(environment)))

const way = (environment: Readonly<Record<string, string>>, origin: string): string => {
  const hop = read(environment).hopOf(origin)
  return hop === null ? "direct" : `${hop.type}://${hop.host}:${hop.port}`
}

describe("the proxies of the environment", () => {
  const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, string, string]> = [
    [{}, "https://api.example", "direct"],
    [{ HTTPS_PROXY: "http://p.example:3128" }, "https://api.example", "http://p.example:3128"],
    [{ HTTPS_PROXY: "http://p.example:3128" }, "http://api.example", "direct"],
    [{ https_proxy: "p.example:3128" }, "https://api.example", "http://p.example:3128"],
    [{ https_proxy: "l.example", HTTPS_PROXY: "u.example" }, "https://api.example", "http://l.example:80"],
    [{ https_proxy: " ", HTTPS_PROXY: "u.example:1" }, "https://api.example", "http://u.example:1"],
    [{ ALL_PROXY: "socks5h://s.example" }, "https://api.example", "socks5://s.example:1080"],
    [{ all_proxy: "socks5://[2001:db8::1]:9" }, "http://api.example", "socks5://2001:db8::1:9"],
    [{ ALL_PROXY: "a.example:1", HTTP_PROXY: "h.example:2" }, "http://api.example", "http://h.example:2"],
    [{ HTTPS_PROXY: "https://t.example" }, "https://api.example", "https://t.example:443"],
    [{ HTTPS_PROXY: "ftp://t.example" }, "https://api.example", "direct"],
    [{ HTTPS_PROXY: "http://p:1", GATEWAY_IGNORE_PROXY_ENV: "true" }, "https://api.example", "direct"],
    // This machine and its network.
    [{ ALL_PROXY: "p.example:1" }, "http://127.0.0.1:11434", "direct"],
    [{ ALL_PROXY: "p.example:1" }, "http://localhost:1", "direct"],
    [{ ALL_PROXY: "p.example:1" }, "http://[::1]:1", "direct"],
    [{ ALL_PROXY: "p.example:1" }, "http://192.168.1.4", "direct"],
    [{ ALL_PROXY: "p.example:1" }, "http://ollama:11434", "direct"],
    [{ ALL_PROXY: "p.example:1" }, "http://nas.local", "direct"]
  ]
  for (const [environment, origin, expected] of cases) {
    it(`${JSON.stringify(environment)}: ${origin} goes by ${expected}`, () =>
      assert.strictEqual(way(environment, origin), expected))
  }

  const excluded: ReadonlyArray<readonly [string, string, boolean]> = [
    ["*", "https://api.example", true],
    ["api.example", "https://api.example", true],
    ["API.Example.", "https://api.example", true],
    ["example.com", "https://api.example.com", true],
    ["example.com", "https://notexample.com", false],
    [".example.com", "https://api.example.com", true],
    ["*.example.com", "https://api.example.com", true],
    ["a.example , api.example", "https://api.example", true],
    ["api.example:8443", "https://api.example", false],
    ["api.example:8443", "https://api.example:8443", true],
    ["api.example:443", "https://api.example", true],
    ["203.0.113.0/24", "https://203.0.113.7", true],
    ["203.0.113.0/24", "https://203.0.114.7", false],
    ["203.0.113.7:443", "https://203.0.113.7", true],
    ["[2001:db8::1]:443", "https://[2001:db8::1]", true],
    ["2001:db8::/32", "https://[2001:db8::1]", true],
    ["203.0.113.7", "https://a203.0.113.7.example", false],
    [",, ,", "https://api.example", false]
  ]
  for (const [list, origin, isDirect] of excluded) {
    it(`NO_PROXY=${list}: ${origin} goes ${isDirect ? "direct" : "by the proxy"}`, () =>
      assert.strictEqual(way({ ALL_PROXY: "p.example:1", no_proxy: list }, origin) === "direct", isDirect))
  }

  it("shows and tells apart without the password", () => {
    const { description, hopOf, problems } = read({
      HTTPS_PROXY: "http://alice:p%40ss@p.example:3128",
      HTTP_PROXY: "::"
    })
    assert.include(description ?? "", "http://***@p.example:3128")
    assert.notInclude(JSON.stringify([description, problems]), "alice")
    const hop = hopOf("https://api.example")
    assert.strictEqual(hop?.username, "alice")
    assert.strictEqual(hop?.password == null ? null : Redacted.value(hop.password), "p@ss")
    assert.strictEqual(problems.length, 1)
    assert.match(problems[0] ?? "", /^HTTP_PROXY /)
  })
})

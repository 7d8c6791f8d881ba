import { assert, describe, it } from "@effect/vitest"
import { judgeSite, type SiteRules } from "../../../src/subjects/auth/ForeignSite.ts"

const rules: SiteRules = {
  boundHost: "box.lan",
  allowedHosts: new Set(["gateway.example", "fd00::7"]),
  origins: new Set(["https://chat.example", "app://notes"])
}

const word = (headers: Record<string, string>, localAddress: string | null = "192.168.1.7"): string =>
  judgeSite(headers, () => localAddress, rules)?.code ?? "admitted"

describe("judgeSite", () => {
  it.each([
    ["localhost:20128", "admitted"],
    ["LOCALHOST", "admitted"],
    ["127.0.0.1:1", "admitted"],
    ["127.9.8.7", "admitted"],
    ["[::1]:20128", "admitted"],
    ["box.lan:20128", "admitted"],
    ["192.168.1.7:20128", "admitted"],
    ["Gateway.Example", "admitted"],
    ["[fd00::7]:20128", "admitted"],
    ["evil.example", "host_not_allowed"],
    ["localhost.evil.example", "host_not_allowed"],
    ["127.0.0.1.evil.example", "host_not_allowed"],
    ["gateway.example.evil.example", "host_not_allowed"],
    ["192.168.1.8", "host_not_allowed"],
    ["0.0.0.0:20128", "host_not_allowed"],
    ["localhost@evil.example", "host_not_allowed"],
    ["[::1", "host_not_allowed"],
    [":20128", "host_not_allowed"]
  ])("Host %s: %s", (host, expected) => assert.strictEqual(word({ host }), expected))

  it.each([
    ["calls.tunnel.example", "admitted"],
    ["Calls.Tunnel.Example:443", "admitted"],
    ["[2001:db8::7]:8080", "admitted"],
    // A server in front of the tunnel may add a name of its own.
    ["gateway.example", "admitted"],
    ["localhost:20128", "host_not_allowed"],
    ["127.0.0.1", "host_not_allowed"],
    ["[::1]", "host_not_allowed"],
    ["box.lan", "host_not_allowed"],
    ["192.168.1.7", "host_not_allowed"]
  ])("Host %s through a tunnel: %s", (host, expected) => {
    const hosts = new Set(["calls.tunnel.example", "2001:db8::7"])
    assert.strictEqual(judgeSite({ host }, () => "192.168.1.7", rules, hosts)?.code ?? "admitted", expected)
  })

  it("a mapped socket address is the address", () =>
    assert.strictEqual(word({ host: "10.0.0.5" }, "::ffff:10.0.0.5"), "admitted"))

  it("the refusal names the origin that the owner would have to allow, and repeats nothing else", () => {
    const message = (origin: string): string =>
      judgeSite({ host: "localhost:20128", origin }, () => null, rules)?.message ?? ""
    assert.include(message("https://Notes.example"), "Name https://notes.example in CORS_ORIGINS")
    for (const origin of ["null", "https://a.example/<b>", `https://${"a".repeat(300)}`]) {
      assert.include(message(origin), "Name the page's origin in CORS_ORIGINS")
    }
  })

  it("a client without Host is no browser", () => assert.strictEqual(word({}), "admitted"))

  const host = "localhost:20128"
  it.each<[Record<string, string>, string]>([
    [{}, "admitted"],
    [{ origin: "http://localhost:20128" }, "admitted"],
    [{ origin: "http://localhost:3000" }, "cross_site_request"],
    [{ origin: "http://127.0.0.1:20128" }, "cross_site_request"],
    [{ origin: "null" }, "cross_site_request"],
    [{ origin: "https://evil.example" }, "cross_site_request"],
    [{ origin: "localhost:20128" }, "cross_site_request"],
    [{ origin: "https://chat.example" }, "admitted"],
    [{ origin: "https://chat.example", "sec-fetch-site": "cross-site" }, "admitted"],
    [{ origin: "app://notes" }, "admitted"],
    [{ origin: "https://chat.example.evil.example" }, "cross_site_request"],
    [{ "sec-fetch-site": "cross-site" }, "cross_site_request"],
    [{ "sec-fetch-site": "same-site" }, "cross_site_request"],
    [{ "sec-fetch-site": "same-origin", origin: "http://localhost:20128" }, "admitted"],
    [{ "sec-fetch-site": "none" }, "admitted"]
  ])("%j: %s", (headers, expected) => assert.strictEqual(word({ host, ...headers }), expected))
})

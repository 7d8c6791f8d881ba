import { assert, describe, it } from "@effect/vitest"
import { conflictWith, readPortUse, readStatus } from "../../../../src/net/tunnels/mesh/Status.ts"
import { isOldGrammar, makeAuthUrlReader, notEnabledIn, versionIn } from "../../../../src/net/tunnels/mesh/Texts.ts"

describe("the texts of Tailscale", () => {
  it.each([
    ["1.80.3\n  tailscale commit: x", "1.80.3", false],
    ["1.52.0", "1.52.0", false],
    ["1.50.1", "1.50.1", true],
    ["1.38.4", "1.38.4", true],
    ["2.0", "2.0", false]
  ] as const)("reads the version of %j", (text, version, isOld) => {
    assert.strictEqual(versionIn(text), version)
    assert.strictEqual(isOldGrammar(version), isOld)
  })

  it("finds no version in other texts", () => {
    for (const text of ["", "tailscale", "x1.2.3", "9".repeat(100_000)]) assert.isNull(versionIn(text))
  })

  it("takes the page where funnels are allowed from Tailscale's site only", () => {
    const told = "Funnel is not enabled on your tailnet.\nTo enable, visit:\n\n         "
    assert.deepStrictEqual(notEnabledIn(`${told}https://login.tailscale.com/f/funnel?node=n1\n`), {
      enableUrl: "https://login.tailscale.com/f/funnel?node=n1"
    })
    assert.deepStrictEqual(notEnabledIn(`${told}https://tailscale.com.evil.example/f\n`), { enableUrl: null })
    assert.deepStrictEqual(notEnabledIn(`${told}http://login.tailscale.com/f\n`), { enableUrl: null })
    assert.isNull(notEnabledIn("Available on the internet:\n\nhttps://box.ts.net/"))
  })

  it("takes the address to log in at only from below its line", () => {
    const read = makeAuthUrlReader()
    assert.isNull(read("https://example.com/before"))
    assert.isNull(read("To authenticate, visit:"))
    assert.isNull(read(""))
    assert.strictEqual(read("\thttps://login.tailscale.com/a/0123"), "https://login.tailscale.com/a/0123")
  })
})

describe("the status of Tailscale", () => {
  it("is read with and without what comes before it", () => {
    const text = '{\n  "BackendState": "Running",\n  "AuthURL": "",\n  "Self": {"DNSName": "Box.tail1.ts.net."}\n}'
    const expected = { backendState: "Running", authUrl: null, hostname: "box.tail1.ts.net" }
    assert.deepStrictEqual(readStatus(text), expected)
    assert.deepStrictEqual(readStatus(`Warning: client version differs\n${text}`), expected)
  })

  it("is none in other texts, and takes no strange names", () => {
    for (const text of ["", "null", "[]", "{}", '{"BackendState": 1}', "{".repeat(10_000)])
      assert.isNull(readStatus(text))
    const strange = readStatus('{"BackendState":"Running","AuthURL":"javascript:x","Self":{"DNSName":"a b.ts.net"}}')
    assert.deepStrictEqual(strange, { backendState: "Running", authUrl: null, hostname: null })
    assert.isNull(readStatus('{"BackendState":"NoState","Self":null}')?.hostname ?? null)
  })

  it("says what a port serves", () => {
    const target = "http://127.0.0.1:3000"
    const config = (handlers: object) =>
      JSON.stringify({
        TCP: { 443: { HTTPS: true } },
        Web: { "box.ts.net:443": { Handlers: handlers } },
        AllowFunnel: null
      })
    const use = (text: string) => readPortUse(text, "box.ts.net", 443)
    const problemOf = (text: string) => {
      const found = use(text)
      return found === null ? "unreadable" : conflictWith(found, target)
    }
    assert.isNull(problemOf("null"))
    assert.isNull(problemOf("{}"))
    assert.isNull(problemOf(config({ "/": { Proxy: target } })))
    assert.include(problemOf(config({ "/": { Proxy: "http://127.0.0.1:1" } })), "something else")
    assert.include(problemOf(config({ "/": { Text: "hello" } })), "something else")
    assert.include(problemOf(config({ "/x": { Path: "/srv" } })), "other paths")
    assert.include(problemOf('{"TCP":{"443":{"TCPForward":"127.0.0.1:22"}}}'), "TCP")
    assert.strictEqual(problemOf("no json"), "unreadable")
    assert.isFalse(use(config({ "/": { Proxy: target } }))?.isPublic)
  })
})

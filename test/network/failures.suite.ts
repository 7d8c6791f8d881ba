import type { ChildProcess } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import type { ProxyType } from "../../src/subjects/proxies/entity.ts"
import { shortTimeoutMs, useWorld } from "./Fixture.ts"
import type { Outcome, ProxyAt } from "./hosts/client.ts"
import { type Fault, faultPorts } from "./hosts/faults.ts"
import { addresses, proxyNames, targetName } from "./Network.ts"
import { skipped } from "./Prerequisites.ts"
import { type Endpoint, endpoints, startProxies, startProxy } from "./Proxies.ts"
import { proxyAt, type World } from "./World.ts"

/** What a busy machine may add to the limit. */
const slackMs = 3_000
const host = proxyNames.dual
const plain = `http://${targetName}/echo`
const secure = `https://${targetName}/echo`

const startSshServer = async ({ network }: World): Promise<void> => {
  const key = join(network.folder, "ssh_host_key")
  await network.exec("proxy", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
  const config = join(network.folder, "sshd.conf")
  writeFileSync(config, `Port ${faultPorts.ssh}\nHostKey ${key}\nPidFile none\nUsePAM no\n`)
  chmodSync(key, 0o600)
  mkdirSync("/run/sshd", { recursive: true })
  // It starts itself anew by its full path.
  const path = (await network.exec("proxy", "sh", "-c", "command -v sshd")).trim()
  network.start("proxy", [path, "-D", "-f", config])
  await network.listening("proxy", [faultPorts.ssh])
}

describe.skipIf(skipped !== null)("a proxy that fails", () => {
  const world = useWorld(async (opened) => {
    await startProxies(opened.network, opened.certificates)
    await startSshServer(opened)
  }, shortTimeoutMs)

  /** The call failed for good: by nothing but the proxy, within the limit, and nothing is left of it. */
  const failsThere = async (
    proxy: ProxyAt,
    url: string,
    kinds: ReadonlyArray<string> = ["proxy"]
  ): Promise<Outcome> => {
    await world().network.packets()
    const answer = await world().call({ proxy, url })
    assert.include(kinds, answer.failure, `${url}: ${JSON.stringify(answer)}`)
    assert.isBelow(answer.ms, shortTimeoutMs + slackMs)
    await world().quiet()
    const { dns, target } = await world().network.packets()
    assert.deepStrictEqual({ dns, target }, { dns: 0, target: 0 })
    return answer
  }

  const at = (type: ProxyType, port: number): ProxyAt => ({ type, host, port, username: null, password: null })

  const locked = endpoints.filter(({ username }) => username !== null)
  it.each(locked)("$name refuses another password, another user, no password and no user", async (endpoint) => {
    const proxy = proxyAt(endpoint, { host })
    for (const wrong of [
      { password: "wrong" },
      { password: `${endpoint.password} ` },
      { username: "bob" },
      { password: null },
      { username: null, password: null }
    ]) {
      const { body, message } = await failsThere({ ...proxy, ...wrong }, plain)
      assert.strictEqual(body, "")
      assert.notInclude(message ?? "", endpoint.password ?? "")
    }
  })

  it.each(endpoints)("$name says that it cannot reach a target", async (endpoint) => {
    const proxy = proxyAt(endpoint, { host })
    const unknown = "http://no-such-name.test/echo"
    for (const url of [`http://${addresses.target.v4}:81/`, `http://[${addresses.target.v6}]:81/`, unknown]) {
      await failsThere(proxy, url)
    }
  })

  const types: ReadonlyArray<ProxyType> = ["http", "https", "socks5"]
  const bad: ReadonlyArray<Fault> = [
    "forbidden",
    "hangs",
    "resets",
    "closes",
    "floods",
    "garbage",
    "trickles",
    "ssh",
    "nothing"
  ]
  const badCases = bad.flatMap((fault) => types.map((type) => ({ fault, type })))
  it.each(badCases)("a $type proxy that is $fault", async ({ fault, type }) => {
    await failsThere(at(type, faultPorts[fault]), plain)
    await failsThere(at(type, faultPorts[fault]), secure)
  })

  it.each(types)("port 0 of a proxy of type %s", async (type) => {
    await failsThere(at(type, 0), plain)
  })

  const strangers: ReadonlyArray<readonly [ProxyType, string, number]> = [
    ["http", "the TLS port of squid", 3130],
    ["socks5", "the TLS port of squid", 3130],
    ["https", "the plain port of squid", 3128],
    ["socks5", "the plain port of squid", 3128],
    ["http", "danted", 1080],
    ["https", "danted", 1080],
    ["http", "microsocks", 1090],
    ["socks5", "tinyproxy", 8880]
  ]
  it.each(strangers)("a %s proxy that is %s", async (type, _, port) => {
    await failsThere(at(type, port), secure)
  })

  it("a page instead of a tunnel is never taken for an answer", async () => {
    const insecure = await failsThere(at("http", faultPorts.page), plain, ["protocol", "reset"])
    assert.deepInclude(insecure, { status: null, body: "" })
    await failsThere(at("http", faultPorts.page), secure, ["tls"])
  })

  it("a tunnel that is closed at once is a failure", async () => {
    await failsThere(at("http", faultPorts.halfOpen), plain, ["reset"])
    await failsThere(at("http", faultPorts.halfOpen), secure, ["tls"])
  })

  it.each(["cuts", "breaks"] as const)("a tunnel that %s in the middle of the answer is a failure", async (fault) => {
    for (const scheme of ["http", "https"]) {
      const url = `${scheme}://${targetName}/bytes?mib=50`
      const answer = await failsThere(at("http", faultPorts[fault]), url, ["truncated", "reset"])
      assert.strictEqual(answer.status, 200)
      assert.isBelow(answer.bytes, 50 * 1_048_576)
    }
  })

  it("a certificate of the proxy that is not for its name", async () => {
    const squid = endpoints.find(({ port }) => port === 3130)
    assert.isDefined(squid)
    // The target's host name leads nowhere, so this is an address that the certificate does not have.
    await world().network.exec("proxy", "ip", "addr", "add", "10.77.1.9/24", "dev", "p0")
    await failsThere(proxyAt(squid, { host: "10.77.1.9" }), secure)
  })

  it.each(types)("an attempt through a %s proxy that hangs is given up with the call", async (type) => {
    const before = await world().quiet()
    const begun = await world().begin("hanging", { proxy: at(type, faultPorts.hangs), url: secure })
    assert.isNull(begun)
    assert.isAbove((await world().usage()).sockets, 0)
    await world().abort("hanging")
    assert.deepStrictEqual(await world().quiet(), before)
  })

  const kinds = ["danted", "microsocks", "tinyproxy", "squid"] as const
  it.each(kinds)("%s is killed in mid-stream: the client sees it, and nothing goes another way", async (program) => {
    const { certificates, network } = world()
    const offset = 20_000
    const children: ReadonlyArray<ChildProcess> = await startProxy(network, certificates, program, offset)
    const ofProgram: ReadonlyArray<Endpoint> = endpoints.filter((endpoint) => endpoint.program === program)
    const routes = ofProgram.flatMap((endpoint) =>
      ["http", "https"].map((scheme) => ({
        name: `${endpoint.name} ${scheme}`,
        proxy: proxyAt(endpoint, { host, port: endpoint.port + offset, version: 1 }),
        url: `${scheme}://${targetName}/stream`
      }))
    )
    for (const { name, proxy, url } of routes) {
      const begun = await world().begin(name, { proxy, url })
      assert.deepInclude(begun, { status: 200, failure: null }, name)
      assert.include(begun?.body, "first")
    }
    await network.packets()
    await Promise.all(children.map(network.kill))
    for (const { name } of routes) {
      const { failure } = await world().ended(name)
      assert.include(["truncated", "reset"], failure, name)
    }
    for (const { proxy, url } of routes) {
      assert.strictEqual((await world().call({ proxy, url })).failure, "proxy")
    }
    await world().quiet()
    const { dns, target } = await network.packets()
    assert.deepStrictEqual({ dns, target }, { dns: 0, target: 0 })
  })

  it("connections of a proxy that was edited or switched off are not used again", async () => {
    const [endpoint] = endpoints
    assert.isDefined(endpoint)
    const url = `${plain}?keep`
    const through = (more: Partial<ProxyAt>) =>
      world().call({ proxy: proxyAt(endpoint, { host, version: 7, ...more }), url })
    const portOf = ({ body }: Outcome) => (JSON.parse(body) as { readonly port: number }).port
    const first = await through({})
    assert.strictEqual(portOf(await through({})), portOf(first))
    assert.deepInclude(await through({ isActive: false, version: 8 }), { failure: "proxy", status: null })
    assert.notStrictEqual(portOf(await through({ version: 9 })), portOf(first))
  })
})

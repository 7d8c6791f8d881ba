import { assert, beforeAll, describe, it } from "vitest"
import type { ProxyFamily } from "../../src/subjects/proxies/entity.ts"
import { type Capture, startCapture } from "./Capture.ts"
import { useWorld } from "./Fixture.ts"
import { addresses, proxyNames, targetName } from "./Network.ts"
import { skipped } from "./Prerequisites.ts"
import { endpoints, startProxies } from "./Proxies.ts"
import { proxyAt } from "./World.ts"

const families: ReadonlyArray<ProxyFamily> = ["auto", "ipv4", "ipv6"]

/** As URLs write hosts. */
const targets = { name: targetName, v4: addresses.target.v4, v6: `[${addresses.target.v6}]` }
const urls = Object.values(targets).flatMap((host) => [`http://${host}/echo`, `https://${host}/echo`])

const hosts = [
  { host: proxyNames.v4, has: ["ipv4"] },
  { host: proxyNames.v6, has: ["ipv6"] },
  { host: addresses.proxy.v4, has: ["ipv4"] },
  { host: addresses.proxy.v6, has: ["ipv6"] }
] as const

const exits: ReadonlyArray<string> = Object.values(addresses.exit)

describe.skipIf(skipped !== null)("every proxy, family and target", () => {
  const world = useWorld(({ certificates, network }) => startProxies(network, certificates))

  it("counts what goes past the proxy, and hears names that are asked for", async () => {
    await world().network.packets()
    for (const host of [targets.v4, targets.v6]) {
      assert.isNull(await world().begin(host, { proxy: null, url: `http://${host}/echo` }))
      await world().abort(host)
    }
    assert.isNull(await world().lookup(targetName))
    const { dns, target, v4, v6 } = await world().network.packets()
    assert.isAbove(target, 1)
    assert.isAbove(dns, 0)
    assert.isAbove(v4, 0)
    assert.isAbove(v6, 0)
    assert.isTrue((await world().questions()).some(({ from, name }) => name === targetName && from !== "10.77.1.1"))
  })

  describe("each by itself", () => {
    let capture: Capture
    beforeAll(async () => {
      // The packets that end the connections of the test above are not for this recording.
      await world().closed()
      capture = await startCapture(world().network)
    })

    const cases = endpoints.flatMap((endpoint) => families.map((family) => ({ name: endpoint.name, endpoint, family })))
    it.each(cases)("$name, family $family: every target, and nothing past the proxy", async ({ endpoint, family }) => {
      await world().questions()
      await world().network.packets()
      for (const url of urls) {
        const proxy = proxyAt(endpoint, { host: proxyNames.dual, family })
        const answer = await world().call({ proxy, url })
        assert.deepInclude(answer, { failure: null, status: 200 }, url)
        assert.include(exits, (JSON.parse(answer.body) as { readonly peer: string }).peer, url)
      }
      await world().quiet()
      const packets = await world().network.packets()
      assert.strictEqual(packets.target, 0)
      assert.strictEqual(packets.dns, 0)
      if (family === "ipv4") assert.strictEqual(packets.v6, 0)
      if (family === "ipv6") assert.strictEqual(packets.v4, 0)
      assert.isAbove(packets.v4 + packets.v6, 0)
      assert.deepStrictEqual(
        (await world().questions()).filter(({ from }) => from !== addresses.proxy.v4),
        []
      )
    })

    const addressed = hosts.flatMap(({ has, host }) =>
      endpoints.map((endpoint) => ({ host, has, name: endpoint.name, endpoint }))
    )
    it.each(addressed)("$name at $host: only by the family that the host has", async ({ endpoint, has, host }) => {
      await world().network.packets()
      for (const family of families) {
        const answer = await world().call({
          proxy: proxyAt(endpoint, { host, family }),
          url: `http://${targetName}/echo`
        })
        await world().quiet()
        const { target, v4, v6 } = await world().network.packets()
        const isThere = family === "auto" || family === has[0]
        assert.strictEqual(answer.failure, isThere ? null : "proxy_family", family)
        assert.strictEqual(target, 0)
        assert.strictEqual(v4 > 0, isThere && has[0] === "ipv4", family)
        assert.strictEqual(v6 > 0, isThere && has[0] === "ipv6", family)
      }
    })

    it("left no packet to the target and no question for a name in what was recorded of the link", async () => {
      await capture.stop()
      assert.isAbove((await capture.packets("tcp")).length, 3_000)
      assert.deepStrictEqual(await capture.packets("net 10.77.2.0/24 or net fd77:2::/64"), [])
      assert.deepStrictEqual(await capture.packets("port 53"), [])
    })
  })
})

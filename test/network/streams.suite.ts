import { assert, describe, it } from "vitest"
import { useWorld } from "./Fixture.ts"
import { proxyNames, targetName } from "./Network.ts"
import { skipped } from "./Prerequisites.ts"
import { endpoints, startProxies } from "./Proxies.ts"
import { proxyAt } from "./World.ts"

const count = 200

describe.skipIf(skipped !== null)("200 streams at once", () => {
  const world = useWorld(({ certificates, network }) => startProxies(network, certificates))

  it.each(endpoints)("through $name: all are answered, and nothing is left open", async (endpoint) => {
    for (const scheme of ["http", "https"]) {
      // The first call loads what stays loaded.
      await world().call({ proxy: proxyAt(endpoint, { host: proxyNames.dual }), url: `${scheme}://${targetName}/echo` })
      const before = await world().quiet()
      await world().network.packets()
      const proxy = proxyAt(endpoint, { host: proxyNames.dual, version: 1 })
      // None of them is answered before all of them are there.
      const answers = await world().many(count, { proxy, url: `${scheme}://${targetName}/hold?n=${count}` })
      assert.deepStrictEqual(
        answers.filter(({ failure }) => failure !== null),
        []
      )
      assert.isTrue(answers.every(({ bytes }) => bytes > 50_000))
      assert.lengthOf(answers, count)
      assert.deepStrictEqual(await world().quiet(), before)
      const { dns, target } = await world().network.packets()
      assert.deepStrictEqual({ dns, target }, { dns: 0, target: 0 })
    }
  })
})

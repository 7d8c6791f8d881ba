/**
 * Throughput through egress proxies as a ratio to direct: the gateway's transport, a target and the proxies of Debian in the network
 * namespaces of test/network. The direct way goes through the host of the proxies too, which then forwards. Windows take turns.
 */
import { fileURLToPath } from "node:url"
import { withSources } from "./lib/sources.mjs"
import { median } from "./lib/statistics.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const files = {
  prerequisites: "test/network/Prerequisites.ts",
  network: "test/network/Network.ts",
  proxies: "test/network/Proxies.ts",
  world: "test/network/World.ts"
}

const connectTimeoutMs = 20_000
const mebibyte = 1_048_576

const loads = {
  bulk: { path: "/bytes?mib=32", parallel: 1, of: ({ bytes, ms }) => bytes / mebibyte / (ms / 1_000) },
  small: { path: "/echo?keep", parallel: 16, of: ({ calls, ms }) => calls / (ms / 1_000) }
}

/** Lets the proxy's host forward between client and target. */
const openDirectWay = async ({ exec }, { exit }) => {
  await exec("target", "ip", "route", "add", "10.77.1.0/24", "via", exit.v4)
  await exec("proxy", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
}

const measureAll = async ({ network, proxies, world }, opened, quick) => {
  const { addresses, proxyNames } = network
  const ways = [
    { name: "direct", proxy: null },
    ...proxies.endpoints.map((endpoint) => ({
      name: endpoint.name,
      proxy: world.proxyAt(endpoint, { host: proxyNames.v4, version: 1 })
    }))
  ]
  const rounds = quick ? 3 : 5
  const windowMs = quick ? 250 : 500
  const figures = []
  for (const scheme of ["http", "https"]) {
    for (const [load, { of, parallel, path }] of Object.entries(loads)) {
      const measured = new Map(ways.map(({ name }) => [name, []]))
      // The first round warms up.
      for (let round = 0; round <= rounds; round++) {
        for (const { name, proxy } of ways) {
          const call = { proxy, url: `${scheme}://${addresses.target.v4}${path}` }
          const value = of(await opened.load(call, parallel, windowMs))
          if (round > 0) measured.get(name).push(value)
        }
      }
      const direct = median(measured.get("direct"))
      for (const [name, values] of measured) {
        const value = median(values)
        figures.push({ scheme, load, name, value, ratio: value / direct })
      }
    }
  }
  return figures
}

/** `[{ scheme, load, name, value, ratio }]`: MiB or calls per second, medians over the windows. */
export const measureProxies = ({ quick }) =>
  withSources(files, async (modules) => {
    const { network, prerequisites, proxies, world } = modules
    if (prerequisites.skipped !== null) throw new TypeError(prerequisites.skipped)
    const opened = await world.openWorld(root, connectTimeoutMs)
    try {
      await proxies.startProxies(opened.network, opened.certificates)
      await openDirectWay(opened.network, network.addresses)
      return await measureAll(modules, opened, quick)
    } finally {
      await opened.close()
    }
  })

export const proxiesText = (figures) => {
  const kinds = [...new Set(figures.map(({ load, scheme }) => `${scheme} ${load}`))]
  const names = [...new Set(figures.map(({ name }) => name))]
  const lines = names.map((name) => {
    const cells = kinds.map((kind) => {
      const { ratio, value } = figures.find(
        (figure) => figure.name === name && `${figure.scheme} ${figure.load}` === kind
      )
      return `${value.toFixed(0)} (${ratio.toFixed(2)})`
    })
    return `  ${name.padEnd(32)}${cells.map((text) => text.padStart(16)).join("")}`
  })
  return [
    "Per second (ratio to direct), medians: bulk in MiB of one call, small in calls of 16 at a time",
    `  ${"".padEnd(32)}${kinds.map((kind) => kind.padStart(16)).join("")}`,
    ...lines
  ].join("\n")
}

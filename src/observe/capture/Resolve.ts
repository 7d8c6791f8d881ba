/** Addresses of names, past the machine's hosts file where that leads back to the gateway. */
import { lookup, Resolver } from "node:dns/promises"

const loopback = /^(?:127\.|::1$|::ffff:127\.)/iu
const resolveTimeoutMs = 3_000

/** All addresses by the system's way, hosts file included. */
export const resolveUsual = async (host: string): Promise<ReadonlyArray<string>> =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/**
 * Resolves a name by the name servers alone. Where those do not know the name, the system is asked, and answers that
 * lead back here are left out.
 */
export const resolvePastHostsFile = async (host: string): Promise<ReadonlyArray<string>> => {
  const resolver = new Resolver({ timeout: resolveTimeoutMs, tries: 2 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [...(four.status === "fulfilled" ? four.value : []), ...(six.status === "fulfilled" ? six.value : [])]
  if (found.length > 0) return found
  return (await resolveUsual(host)).filter((address) => !loopback.test(address))
}

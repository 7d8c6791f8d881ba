/** Checks an egress proxy before it is saved, and turns the input into a proxy. Pure. */
import * as Redacted from "effect/Redacted"
import type { CreateProxy, UpdateProxy } from "./routes.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { Proxy } from "./entity.ts"
import { maskSecret } from "../../kernel/text/Masking.ts"
import { blockMessage, judgeHost, type OutboundPolicy } from "../../net/egress/OutboundPolicy.ts"
import { contradictsFamily } from "../../net/egress/proxy/ProxyRoute.ts"

/** RFC 1929: each of the two has one byte for its length. */
const maxSocksBytes = 255

/** A new proxy. */
export const proxyOf = (input: CreateProxy, { id, nowMs }: { readonly id: string; readonly nowMs: number }): Proxy => ({
  id,
  name: input.name,
  type: input.type,
  host: hostOf(input.host),
  port: input.port,
  username: input.username ?? null,
  password: input.password ?? null,
  isReadable: true,
  family: input.family ?? "auto",
  source: "manual",
  isActive: input.isActive ?? true,
  createdAtMs: nowMs,
  updatedAtMs: nowMs
})

/** Writes the host in lower case, an IPv6 address without its brackets. */
const hostOf = (given: string): string => given.toLowerCase().replace(/^\[(.*)\]$/, "$1")

/** A masked password was read and sent back unchanged, so it is not given. */
export const withoutMasked = ({ password: stored }: Proxy, { password, ...input }: UpdateProxy): UpdateProxy => {
  const isShown = password && stored !== null && Redacted.value(password) === maskSecret(Redacted.value(stored))
  return password === undefined || isShown ? input : { ...input, password }
}

/** The proxy after a change: what is absent stays; null clears the user name and the password. */
export const changedProxy = (before: Proxy, input: UpdateProxy, updatedAtMs: number): Proxy => ({
  ...before,
  name: input.name ?? before.name,
  type: input.type ?? before.type,
  host: input.host === undefined ? before.host : hostOf(input.host),
  port: input.port ?? before.port,
  username: input.username === undefined ? before.username : input.username,
  password: input.password === undefined ? before.password : input.password,
  isReadable: before.isReadable || input.password !== undefined,
  family: input.family ?? before.family,
  isActive: input.isActive ?? before.isActive,
  updatedAtMs
})

const problem = (field: string, message: string): FieldProblem => ({ field, message })

const byteLength = (text: string): number => Buffer.byteLength(text, "utf8")

/** Describes the problem of a proxy; null: none. */
export const proxyProblem = (proxy: Proxy, policy: OutboundPolicy, isSocksOn: boolean): FieldProblem | null => {
  const { family, host, password, type, username } = proxy
  const verdict = judgeHost(host, policy)
  if (verdict._tag === "Blocked") return problem("host", blockMessage[verdict.reason])
  if (contradictsFamily(host, family)) return problem("family", `'${host}' is an address of the other IP family`)
  if (type === "socks5" && !isSocksOn) return problem("type", "SOCKS5 is off by ENABLE_SOCKS5_PROXY=false")
  if (password !== null && username === null) return problem("username", "is needed with a password")
  if (username?.includes(":") === true && type !== "socks5") {
    return problem("username", "must not hold a colon: HTTP proxies read it as the end of the name")
  }
  if (type !== "socks5") return null
  if (byteLength(username ?? "") > maxSocksBytes) return problem("username", "must have at most 255 bytes for SOCKS5")
  const hasRoom = password === null || byteLength(Redacted.value(password)) <= maxSocksBytes
  return hasRoom ? null : problem("password", "must have at most 255 bytes for SOCKS5")
}

/** A stored password is not sent to another address or in another way. Null: it stays where it was, or is given anew. */
export const moveProblem = (before: Proxy, after: Proxy, input: UpdateProxy): FieldProblem | null => {
  const isMoved = before.host !== after.host || before.port !== after.port || before.type !== after.type
  const hasStored = before.password !== null || !before.isReadable
  return isMoved && hasStored && input.password === undefined
    ? problem("password", "is needed again in the same request: the stored one must not be sent to another address")
    : null
}

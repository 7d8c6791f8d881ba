/** Address of a server of Valkey or Redis: `redis://user:password@host:port/database`, `rediss://` for TLS. Pure. */
import * as Redacted from "effect/Redacted"

export interface ValkeyAddress {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** Null: the server's default user. */
  readonly user: string | null
  readonly password: Redacted.Redacted | null
  readonly database: number
}

const usualPort = 6379
const mostDatabase = 16_383

/** Null: it is none. */
export const valkeyAddressOf = (url: Redacted.Redacted): ValkeyAddress | null => {
  let parsed: URL
  try {
    parsed = new URL(Redacted.value(url))
    const { hostname, password, pathname, port, protocol, username } = parsed
    const database = pathname === "" || pathname === "/" ? 0 : Number(/^\/(\d+)$/.exec(pathname)?.[1] ?? Number.NaN)
    if (!/^rediss?:$/.test(protocol) || hostname === "" || !(database <= mostDatabase)) return null
    return {
      host: hostname.replaceAll(/^\[|\]$/g, ""),
      port: port === "" ? usualPort : Number(port),
      isTls: protocol === "rediss:",
      user: username === "" ? null : decodeURIComponent(username),
      password: password === "" ? null : Redacted.make(decodeURIComponent(password)),
      database
    }
  } catch {
    return null
  }
}

/** Host and port, as they may be shown. */
export const shownOf = ({ host, port }: ValkeyAddress): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

/** `tailscale status --json` and `tailscale funnel status --json`, as far as they are read: https://tailscale.com/kb/1080/cli#status */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const Text = Schema.optionalWith(Schema.String, { nullable: true, default: () => "" })

const MeshStatus = Schema.parseJson(
  Schema.Struct({
    /** `NoState`, `NeedsLogin`, `NeedsMachineAuth`, `Stopped`, `Starting` or `Running`. */
    BackendState: Schema.String,
    AuthURL: Text,
    Self: Schema.optionalWith(Schema.Struct({ DNSName: Text }), { nullable: true })
  })
)

export interface MeshState {
  readonly backendState: string
  /** Address to log in at, once that has begun. */
  readonly authUrl: string | null
  /** `machine.network.ts.net` */
  readonly hostname: string | null
}

const decodeStatus = Schema.decodeUnknownOption(MeshStatus)

/** Warnings may be before it. */
const jsonIn = (text: string): string => text.slice(Math.max(0, text.search(/^\{/m)))

const hostname = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/

/** Returns the name without its trailing dot; null: it is none. */
const hostnameOf = (dnsName: string): string | null => {
  const name = dnsName.replace(/\.$/, "").toLowerCase()
  return hostname.test(name) ? name : null
}

const authUrlOf = (text: string): string | null => (/^https?:\/\/[\x21-\x7e]{1,500}$/.test(text) ? text : null)

/** Null: it is not a status. */
export const readStatus = (text: string): MeshState | null => {
  const decoded = Option.getOrNull(decodeStatus(jsonIn(text)))
  return decoded === null
    ? null
    : {
        backendState: decoded.BackendState,
        authUrl: authUrlOf(decoded.AuthURL),
        hostname: hostnameOf(decoded.Self?.DNSName ?? "")
      }
}

const Handler = Schema.Struct({ Proxy: Text, Path: Text, Text })
const Web = Schema.Struct({
  Handlers: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Handler }), { nullable: true })
})
const ServeConfig = Schema.parseJson(
  Schema.NullOr(
    Schema.Struct({
      TCP: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Struct({ TCPForward: Text }) }), {
        nullable: true
      }),
      /** Servers by `host:port`. */
      Web: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Web }), { nullable: true }),
      AllowFunnel: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Boolean }), { nullable: true })
    })
  )
)

const decodeServeConfig = Schema.decodeUnknownOption(ServeConfig)

/** Use of one public port of this machine. */
export interface PortUse {
  /** Targets of requests, by the path they begin with: `http://127.0.0.1:3000`. Null: another target than an address. */
  readonly targets: ReadonlyMap<string, string | null>
  /** True when it is no web server, but passes connections on. */
  readonly isForwarding: boolean
  /** True when it is open to the internet, not only to the network. */
  readonly isPublic: boolean
}

/** Null: it is not a configuration. */
export const readPortUse = (text: string, host: string, port: number): PortUse | null => {
  const trimmed = text.trim()
  const decoded = decodeServeConfig(trimmed === "null" || trimmed === "" ? "null" : jsonIn(text))
  if (decoded._tag === "None") return null
  const config = decoded.value
  const at = `${host}:${port}`
  const handlers = Object.entries(config?.Web?.[at]?.Handlers ?? {})
  return {
    targets: new Map(handlers.map(([path, { Proxy }]) => [path, Proxy === "" ? null : Proxy])),
    isForwarding: (config?.TCP?.[String(port)]?.TCPForward ?? "") !== "",
    isPublic: config?.AllowFunnel?.[at] === true
  }
}

/** Checks whether its root goes to `target`. */
export const servesAtRoot = ({ targets }: PortUse, target: string): boolean => targets.get("/") === target

/** Null where there is nothing of another in the way. */
export const conflictWith = (use: PortUse, target: string): string | null => {
  if (use.isForwarding) return "passes TCP connections on"
  if (use.targets.size === 0 || servesAtRoot(use, target)) return null
  return use.targets.has("/") ? "serves something else already" : "serves other paths already"
}

/** Settings of the gateway as a whole (`/api/settings`): shape, defaults, and how a change is laid over them. */
import * as Schema from "effect/Schema"

export const GatewaySettings = Schema.Struct({
  /** Names, beside its own addresses, by which clients that need no key may call the gateway (the `Host` of a request), without port. */
  allowedHosts: Schema.Array(Schema.String),
  /** `/metrics` needs no key, also when the gateway is reached from other machines. */
  metricsPublic: Schema.Boolean
}).annotations({ identifier: "GatewaySettings" })
export type GatewaySettings = typeof GatewaySettings.Type

const leave = { exact: true, nullable: true } as const

/** A DNS name, an IPv4 address, or an IPv6 address with or without brackets. */
const HostName = Schema.Trim.pipe(
  Schema.lowercased({ message: () => "must be in lower case" }),
  Schema.maxLength(253),
  Schema.filter((text) =>
    /^(?:[\da-z](?:[\d_a-z-]*[\da-z])?(?:\.[\da-z](?:[\d_a-z-]*[\da-z])?)*|\[?[\d.:a-f]*:[\d.:a-f]*\]?)$/.test(text)
      ? true
      : "must be a host name or an address, without scheme and port"
  )
)

/** Any part of the settings; null leaves a member as it is. A member that does not exist is an error. */
export const GatewaySettingsPatch = Schema.Struct({
  allowedHosts: Schema.optionalWith(Schema.Array(HostName).pipe(Schema.maxItems(100)), leave),
  metricsPublic: Schema.optionalWith(Schema.Boolean, leave)
})
export type GatewaySettingsPatch = typeof GatewaySettingsPatch.Type

export const defaultGatewaySettings: GatewaySettings = { allowedHosts: [], metricsPublic: false }

export const mergeGatewaySettings = (settings: GatewaySettings, patch: GatewaySettingsPatch): GatewaySettings => ({
  ...settings,
  ...patch
})

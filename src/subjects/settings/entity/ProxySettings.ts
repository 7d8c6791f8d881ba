/** Settings of the egress proxies (`proxies` in `/api/settings`, `docs/proxies.md`). */
import * as Schema from "effect/Schema"
import { field } from "../../../kernel/Documented.ts"

const words = {
  enabled: [
    "Whether calls without a proxy of their key, connection or provider go by the proxy of all, or one chosen automatically.",
    true
  ],
  testUrl: [
    "Fetched through a proxy when it is tested; when the answer is an IP address, alone or as `ip` of a JSON object, it is shown as the address the proxy leaves by.",
    "https://api64.ipify.org/?format=json"
  ],
  freeSources: [
    "Addresses of lists of free proxies: one `host:port` or `type://host:port` a line. They are read only when that is asked for.",
    []
  ],
  freeProxiesMayCarryKeys: [
    "Whether a request that carries a provider's key may go through a free proxy. Strangers run those: over https they learn whom the gateway talks to, over http they read the key.",
    false
  ]
} as const

export const ProxySettings = Schema.Struct({
  enabled: field(Schema.Boolean, ...words.enabled),
  testUrl: field(Schema.String, ...words.testUrl),
  freeSources: field(Schema.Array(Schema.String), ...words.freeSources),
  freeProxiesMayCarryKeys: field(Schema.Boolean, ...words.freeProxiesMayCarryKeys)
}).annotations({ identifier: "ProxySettings" })
export type ProxySettings = typeof ProxySettings.Type

const leave = { exact: true, nullable: true } as const

const Address = Schema.Trim.pipe(
  Schema.maxLength(2048),
  Schema.filter((text) =>
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? true : "must be an http or https URL"
  )
)

/** Any part; null leaves a member as it is. */
export const ProxySettingsPatch = Schema.Struct({
  enabled: field(Schema.optionalWith(Schema.Boolean, leave), ...words.enabled),
  testUrl: field(Schema.optionalWith(Address, leave), ...words.testUrl),
  freeSources: field(Schema.optionalWith(Schema.Array(Address).pipe(Schema.maxItems(10)), leave), ...words.freeSources),
  freeProxiesMayCarryKeys: field(Schema.optionalWith(Schema.Boolean, leave), ...words.freeProxiesMayCarryKeys)
})
export type ProxySettingsPatch = typeof ProxySettingsPatch.Type

export const defaultProxySettings: ProxySettings = {
  enabled: words.enabled[1],
  testUrl: words.testUrl[1],
  freeSources: words.freeSources[1],
  freeProxiesMayCarryKeys: words.freeProxiesMayCarryKeys[1]
}

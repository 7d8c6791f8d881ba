/** Egress proxies: by which address calls to providers leave (docs/proxies.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ProxyFamily, ProxyScope, ProxySource, ProxyType } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { isHostText } from "../../kernel/text/HostText.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer, UpstreamFailedAnswer } from "../../contract/Errors.ts"
import { exampleProxyId, exampleTime } from "../../contract/Examples.ts"
import {
  body,
  clearable,
  Created,
  HttpUrl,
  Name,
  nextCursor,
  total,
  NoContent,
  optional,
  ReadOnly
} from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const words = {
  id: ["Id of the proxy.", exampleProxyId],
  name: ["Unique; `X-Gateway-Egress` shows it.", "berlin"],
  type: ["How the proxy is spoken to. Names of targets are resolved by the proxy, also with `socks5`.", "socks5"],
  host: ["Host name or address of the proxy.", "proxy.example.com"],
  port: ["Port of the proxy.", 1080],
  username: ["User name for the proxy; null: none.", "alice"],
  password: "Password for the proxy. Absent in a change: the stored one stays.",
  family: [
    "The IP family of the way to the proxy. With `ipv4` or `ipv6` the other one is never used, not even to fall back.",
    "auto"
  ],
  isActive: ["Whether it may be used. Calls it is assigned to fail while it is not; they do not go direct.", true],
  scope: [
    "What it is assigned to. A key's proxy comes before a connection's, a provider's and that of all.",
    "provider"
  ],
  scopeId: ["Id of the key, connection or provider; null for `global`.", "openai"],
  proxyId: ["Id of the proxy; null: the scope has none of its own.", exampleProxyId]
} as const

const Health = Schema.Struct({
  state: field(
    Schema.Literal("unknown", "working", "failing"),
    "`unknown`: it was not used since the gateway started; otherwise how its last use or check ended.",
    "working"
  ),
  checkedAt: field(Schema.NullOr(Schema.String), "When that was, ISO 8601; null: never.", exampleTime),
  latencyMs: field(Schema.NullOr(Schema.Number), "Milliseconds that it took; null: not measured.", 84)
}).annotations({ identifier: "ProxyHealth" })

export const ProxyView = Schema.Struct({
  id: field(Schema.String, ...words.id),
  name: field(Schema.String, ...words.name),
  type: field(ProxyType, ...words.type),
  host: field(Schema.String, ...words.host),
  port: field(Schema.Number, ...words.port),
  username: field(Schema.NullOr(Schema.String), ...words.username),
  password: field(Schema.NullOr(Schema.String), "The masked password; null: none.", "****"),
  family: field(ProxyFamily, ...words.family),
  source: field(ProxySource, "`free`: found in a public list, run by strangers.", "manual"),
  isActive: field(Schema.Boolean, ...words.isActive),
  usable: observed(
    Schema.Boolean,
    "False: it is not active, its password cannot be decrypted with the encryption key in use, or its kind is switched off.",
    true
  ),
  health: observed(Health, "How it did lately."),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "Proxy" })
export type ProxyView = typeof ProxyView.Type

const Host = Schema.Trim.pipe(
  Schema.maxLength(255),
  Schema.filter((text) =>
    isHostText(text) ? true : "must be a host name or an address, without scheme and port; 'port' is a field of its own"
  )
)
const Port = Schema.Int.pipe(Schema.between(1, 65_535))
const ProxyName = Name.pipe(Schema.maxLength(120))
const noControls = { message: () => "must not hold control characters" }
const Username = Schema.String.pipe(
  Schema.minLength(1),
  Schema.maxLength(255),
  Schema.pattern(/^[^\p{Cc}]*$/u, noControls)
)
const Password = Schema.Redacted(
  Schema.String.pipe(
    Schema.minLength(1),
    Schema.maxLength(1024),
    Schema.pattern(/^[^\p{Cc}]*$/u, noControls)
  ).annotations({
    examples: ["a-password"]
  })
)

const changeable = {
  username: field(clearable(Username), ...words.username),
  password: field(clearable(Password), words.password),
  family: field(optional(ProxyFamily), ...words.family),
  isActive: field(optional(Schema.Boolean), ...words.isActive)
}

export const CreateProxy = Schema.Struct({
  name: field(ProxyName, ...words.name),
  type: field(ProxyType, ...words.type),
  host: field(Host, ...words.host),
  port: field(Port, ...words.port),
  ...changeable
}).annotations(body("CreateProxy"))
export type CreateProxy = typeof CreateProxy.Type

const changes = {
  name: field(optional(ProxyName), ...words.name),
  type: field(optional(ProxyType), ...words.type),
  host: field(optional(Host), ...words.host),
  port: field(optional(Port), ...words.port),
  ...changeable,
  source: ReadOnly,
  usable: ReadOnly,
  health: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}

/** Update of a proxy; an absent member stays as it is. */
export const UpdateProxy = Schema.Struct({
  id: field(Schema.String, ...words.id),
  ...changes
}).annotations(body("UpdateProxy"))
export type UpdateProxy = typeof UpdateProxy.Type

export const ProxyAssignmentView = Schema.Struct({
  scope: field(ProxyScope, ...words.scope),
  scopeId: field(Schema.NullOr(Schema.String), ...words.scopeId),
  proxyId: field(
    Schema.String,
    "Id of the proxy. One that was removed still counts: calls of the scope fail.",
    exampleProxyId
  ),
  proxyName: field(Schema.NullOr(Schema.String), "Its name; null: it was removed.", "berlin")
}).annotations({ identifier: "ProxyAssignment" })
export type ProxyAssignmentView = typeof ProxyAssignmentView.Type

export const AssignProxy = Schema.Struct({
  scope: field(ProxyScope, ...words.scope),
  scopeId: field(optional(Schema.String.pipe(Schema.maxLength(200))), ...words.scopeId),
  proxyId: field(Schema.NullOr(Schema.String), ...words.proxyId)
}).annotations(body("AssignProxy"))
export type AssignProxy = typeof AssignProxy.Type

const switchWords = [
  "Whether calls without a proxy of their key, connection or provider go by the one of all. Those with one go by it in any case.",
  true
] as const

export const ProxySwitch = Schema.Struct({
  enabled: field(Schema.Boolean, ...switchWords),
  proxyId: field(
    Schema.NullOr(Schema.String),
    "The proxy of all calls without one of their own; null: none.",
    exampleProxyId
  )
}).annotations({ identifier: "ProxySwitch" })

export const ChangeProxySwitch = Schema.Struct({
  enabled: field(optional(Schema.Boolean), ...switchWords),
  proxyId: field(
    clearable(Schema.String),
    "The proxy of all calls without one of their own; null: none.",
    exampleProxyId
  )
}).annotations(body("ChangeProxySwitch"))
export type ChangeProxySwitch = typeof ChangeProxySwitch.Type

/** Proxy as the routes that save it take it. */
const ProxyEntry = Schema.Struct({
  id: field(optional(Schema.String), "Of a saved proxy: what is absent here is as it is saved.", exampleProxyId),
  ...changes
}).annotations(body("ProxyEntry"))

export const TestProxy = Schema.Struct({
  proxyId: field(optional(Schema.String), "The proxy to test; or give `proxy`.", exampleProxyId),
  proxy: field(
    optional(ProxyEntry),
    "A proxy as it would be saved: a new one, or with its `id` a saved one with changes that are not saved."
  ),
  url: field(
    optional(HttpUrl),
    "What to fetch through it; absent: the setting `proxies.testUrl`.",
    "https://example.com/"
  )
}).annotations(body("TestProxy"))
export type TestProxy = typeof TestProxy.Type

export const ProxyTested = Schema.Struct({
  ok: field(Schema.Boolean, "Whether an answer came through the proxy, whatever its status.", true),
  latencyMs: field(Schema.Number, "Milliseconds until it was there, or until it failed.", 212),
  egressIp: field(
    Schema.NullOr(Schema.String),
    "The address the answer says it saw; null: the answer says none.",
    "203.0.113.7"
  ),
  family: field(ProxyFamily, "Of `egressIp` where there is one, else what the proxy is set to.", "ipv4"),
  error: field(Schema.NullOr(Schema.String), "Why it failed.", null)
}).annotations({ identifier: "ProxyTested" })
export type ProxyTested = typeof ProxyTested.Type

export const FreeProxiesFound = Schema.Struct({
  listed: field(Schema.Number, "Proxies that the lists name, without those that are known.", 120),
  tested: field(Schema.Number, "How many of them were tried.", 100),
  proxies: field(Schema.Array(ProxyView), "Those that work; they are saved, not active and not assigned.")
}).annotations({ identifier: "FreeProxiesFound" })

const One = Schema.Struct({ proxy: field(ProxyView, "The proxy.") }).annotations({ identifier: "ProxyAnswer" })

const IdQuery = Schema.Struct({ id: field(Schema.String, ...words.id) })

const at = endpointsOf("proxies")

export class Proxies extends HttpApiGroup.make("proxies")
  .annotate(OpenApi.Title, "Egress proxies")
  .annotate(
    OpenApi.Description,
    "Proxies that calls to providers leave by. A call with a proxy goes through it or fails; it never goes direct instead."
  )
  .add(
    at("list", { summary: "List proxies", description: "All of them, the oldest first.", paged: true }).addSuccess(
      Schema.Struct({
        proxies: field(Schema.Array(ProxyView), "The proxies of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "ProxyList"
      })
    )
  )
  .add(
    at("create", {
      summary: "Add a proxy",
      description: "It is used once it is assigned. Its host is under the same rules as addresses of providers.",
      example: { name: "berlin", type: "socks5", host: "proxy.example.com", port: 1080 }
    })
      .setPayload(CreateProxy)
      .addSuccess(Created(One))
      .addError(ConflictAnswer)
  )
  .add(
    at("update", {
      summary: "Change a proxy",
      description:
        "What is absent stays as it is. Connections through the proxy as it was are not used for further calls; what runs on them ends undisturbed.",
      example: { id: exampleProxyId, family: "ipv4" }
    })
      .setPayload(UpdateProxy)
      .addSuccess(One)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Remove a proxy",
      description: "What it was assigned to keeps the assignment: its calls fail until another is assigned, or none."
    })
      .setUrlParams(IdQuery)
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("assignments", {
      summary: "List what proxies are assigned to",
      description: "All assignments: of keys, connections, providers, and the one of all."
    }).addSuccess(
      Schema.Struct({ assignments: field(Schema.Array(ProxyAssignmentView), "The assignments.") }).annotations({
        identifier: "ProxyAssignmentList"
      })
    )
  )
  .add(
    at("assign", {
      summary: "Assign a proxy",
      description: "Replaces what the scope had; null takes it back. It holds from the next call on.",
      example: { scope: "provider", scopeId: "mistral", proxyId: exampleProxyId }
    })
      .setPayload(AssignProxy)
      .addSuccess(
        Schema.Struct({
          assignment: field(Schema.NullOr(ProxyAssignmentView), "The scope's assignment; null: it has none.")
        }).annotations({ identifier: "ProxyAssignmentAnswer" })
      )
      .addError(NotFoundAnswer)
  )
  .add(
    at("settings", {
      summary: "Show the proxy of all calls",
      description: "The proxy of all calls without one of their own, and whether it is used."
    }).addSuccess(ProxySwitch)
  )
  .add(
    at("setSettings", {
      summary: "Set the proxy of all calls, on or off",
      description:
        "What is absent stays as it is. Proxies assigned to keys, connections and providers are used in any case; `proxyEnabled` of a connection switches them off for it.",
      example: { enabled: true, proxyId: null }
    })
      .setPayload(ChangeProxySwitch)
      .addSuccess(ProxySwitch)
      .addError(NotFoundAnswer)
  )
  .add(
    at("test", {
      summary: "Test a proxy",
      description:
        "Fetches an address through it, on a connection made for this test. A failed test is an answer with `ok` false.",
      example: { proxyId: exampleProxyId }
    })
      .setPayload(TestProxy)
      .addSuccess(ProxyTested)
      .addError(NotFoundAnswer)
  )
  .add(
    at("findFree", {
      summary: "Look for free proxies",
      description:
        "Reads the lists of the setting `proxies.freeSources`, tries what they name, and saves what works: inactive, and marked as run by strangers. Needs the flag FREE_PROXY_ENABLED. It may take a minute."
    })
      .addSuccess(FreeProxiesFound)
      .addError(ConflictAnswer)
      .addError(UpstreamFailedAnswer)
  ) {}

/** `gateway whoami`: who this machine is to a gateway, and what it may do there. */
import { operations } from "../../../contract/tiers/Rights.ts"
import { Me } from "../routes.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { asking } from "../../../cli/verbs/asking.ts"

type MeView = typeof Me.Type

const who: Readonly<Record<MeView["principal"]["type"], string>> = {
  session: "an admin session",
  apiKey: "an API key",
  adminKey: "the admin key",
  owner: "the owner of the gateway's data folder",
  anonymous: "a caller without a credential"
}

const listed = (all: ReadonlyArray<string>, whenNone: string): string => (all.length === 0 ? whenNone : all.join(", "))

const perMost = (count: number | null): string => (count === null ? "no limit" : String(count))

const limitRows = (limits: MeView["limits"]): ReadonlyArray<readonly [string, string]> =>
  limits === null
    ? []
    : [
        ["Models", listed(limits.allowedModels, "all")],
        ["Blocked models", listed(limits.blockedModels, "none")],
        ["Combos", listed(limits.allowedCombos, "all")],
        ["Providers", listed(limits.allowedProviders, "all")],
        ["Kinds of requests", listed(limits.allowedEndpoints, "all")],
        ["Requests a minute", perMost(limits.maxRequestsPerMinute)],
        ["Requests a day", perMost(limits.maxRequestsPerDay)]
      ]

const spread = { own: "of one's own", team: "of one's teams", all: "of all" } as const

/** Names what the role of a key's person opens, such as `readKeys (of one's own)`. */
const rightsOf = (rights: MeView["rights"]): ReadonlyArray<string> =>
  operations.flatMap((operation) => {
    const reach = rights[operation]
    return reach === "none" ? [] : [`${operation} (${spread[reach]})`]
  })

const personRows = ({ person, rights }: MeView): ReadonlyArray<readonly [string, string]> =>
  person === null
    ? []
    : [
        ["Person", `${person.name ?? person.id}${person.role === null ? "" : `, ${person.role}`}`],
        ["Rights", listed(rightsOf(rights), "none")]
      ]

/** A session is the administrator's or a person's. */
const callerOf = ({ person, principal: { name, type } }: MeView): string => {
  const kind = type === "session" && person !== null ? "a person who has logged in" : who[type]
  return name === null ? kind : `${kind}: ${name}`
}

const page = (url: string, me: MeView): string => {
  const { credential, limits, principal, role, scopes, tiers } = me
  return fields([
    ["Gateway", url],
    ["You are", callerOf(me)],
    ["Role", role],
    ...(credential.prefix === null ? [] : [["Key", `${credential.prefix}…`] as const]),
    ...(credential.expiresAt === null ? [] : [["Until", Output.shortTime(credential.expiresAt)] as const]),
    ...(principal.type === "apiKey" ? [["Scopes", listed(scopes, "none")] as const] : []),
    ["May use", listed(tiers, "nothing")],
    ...personRows(me),
    ...limitRows(limits)
  ])
}

export const whoamiCommand = asking("whoami", "auth", {}, function* (client, _given, to) {
  const value = yield* client.me()
  yield* Output.result({
    schema: Me,
    value,
    text: Output.print(page(to.url, value)),
    name: value.principal.name ?? value.principal.type
  })
})

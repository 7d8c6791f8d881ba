/** `gateway issuers list`, `show`, `test`, `enable`, `disable` and `remove`. */
import * as Args from "@effect/cli/Args"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pick } from "../../../cli/flags/Flags.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import { latestVersion } from "../../../cli/gateway/Versions.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { fields } from "../../../cli/output/Table.ts"
import { listOf, noun, on, removeOf, switchesOf } from "../../../cli/verbs/noun.ts"
import { IssuerTest, IssuerView } from "../routes.ts"

const Issuers = Schema.Struct({ issuers: Schema.Array(IssuerView) })
export const OneIssuer = Schema.Struct({ issuer: IssuerView })

export const issuerNamed = Args.text({ name: "issuer" }).pipe(
  Args.withDescription("Name of the issuer, or the id or the beginning of it.")
)

export const issuers = noun({
  what: "issuer",
  group: "issuers",
  argument: issuerNamed,
  listing: "gateway issuers list",
  list: (client) => client.list(),
  one: (client, id) => Effect.map(client.get({ path: { id } }), ({ issuer }) => issuer),
  rows: (answer) => answer.issuers,
  nameOf: ({ name }) => name,
  pick: (all, word) => pick("issuer", all, word, "gateway issuers list")
})

const columns: ReadonlyArray<Column.Column<IssuerView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.text("KIND", ({ kind }) => kind),
  Column.text("ISSUER", ({ issuer }) => issuer),
  Column.text("STATE", ({ enabled }) => (enabled ? "enabled" : "disabled")),
  Column.id("ID", ({ id }) => id)
]

export const issuersList = listOf(issuers, {
  schema: Issuers,
  columns,
  empty: "There are no issuers. Add one with 'gateway issuers add <name> --issuer <address> --client-id <id>'."
})

const groupLines = (issuer: IssuerView): ReadonlyArray<readonly [string, string]> =>
  issuer.groups.map(({ group, role, team }) => ["Group", `${group} = ${role ?? ""}${team === null ? "" : `:${team}`}`])

const scimLines = ({ scim }: IssuerView): ReadonlyArray<readonly [string, string]> => {
  if (scim === null) return []
  const parent = scim.parent === null ? "" : `:${scim.parent}`
  return [["Pushes people (SCIM)", `${scim.claim} = ${scim.attribute}${parent}`]]
}

const pageOf = (issuer: IssuerView): string =>
  fields([
    ["Name", issuer.name],
    ["Kind", issuer.kind],
    ["Issuer", issuer.issuer],
    ["Client", `${issuer.clientId}${issuer.hasClientSecret ? ", with a secret" : ""}`],
    ["Scopes", issuer.scopes.join(" ")],
    ["Domains", issuer.allowedDomains.join(", ") || "all"],
    ["Groups that may", issuer.allowedGroups.join(", ") || "all"],
    ["Claim of groups", issuer.groupsClaim],
    ...groupLines(issuer),
    ["Role of others", issuer.defaultRole ?? "none: they are not let in"],
    ...scimLines(issuer),
    ["State", issuer.enabled ? "enabled" : "disabled"],
    ["Redirect address", issuer.redirectUri],
    ["Id", issuer.id]
  ])

export const issuersShow = on("show", issuers, {}, function* ({ client, found, name, to }) {
  const value = yield* client.get({ path: { id: found.id } })
  const text = Output.print(pageOf(value.issuer))
  yield* Output.result({ schema: OneIssuer, value, text, name, version: latestVersion(to) })
})

export const issuersTest = on("test", issuers, {}, function* ({ client, found, name }) {
  const value = yield* client.test({ path: { id: found.id } })
  const good = `'${name}' can sign people in, as far as its documents say. Redirect address: ${value.redirectUri}`
  yield* Output.result({ schema: IssuerTest, value, text: value.ok ? Output.note(good) : Effect.void, name })
  if (!value.ok) yield* new CommandFailed({ message: value.problems.join(" ") })
})

const switches = switchesOf(issuers, {
  schema: OneIssuer,
  ask: (client, id, enabled) => client.update({ path: { id }, payload: { enabled } }),
  enabled: ({ name }) => `People can sign in by '${name}'.`,
  disabled: ({ name }) => `People cannot sign in by '${name}'; its sessions have ended.`
})

export const issuerEnable = switches.enable
export const issuerDisable = switches.disable

export const issuersRemove = removeOf(issuers, {
  ask: (client, id) => client.remove({ path: { id } }),
  question: ({ name }) => `Remove '${name}'? Its sessions end, and its people sign in no more.`,
  record: ({ name }) => ({ name }),
  sentence: ({ name }) => `'${name}' is gone, and its sessions have ended.`
})

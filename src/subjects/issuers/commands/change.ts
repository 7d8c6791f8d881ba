/** `gateway issuers add` and `edit`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readSecret } from "../../../cli/asking/stdin.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { teamIdOf } from "../../../cli/finding/pickOwner.ts"
import { body, changes } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { findOne } from "../../../cli/verbs/noun.ts"
import { userRoles } from "../../users/entity.ts"
import { issuerKinds, matchedAttributes } from "../entity.ts"
import { CreateIssuer, UpdateIssuer } from "../routes.ts"
import { issuerNamed, issuers, OneIssuer } from "./issuers.ts"

const settings = {
  issuer: Options.text("issuer").pipe(
    Options.withDescription("The issuer identifier: the address in front of /.well-known/openid-configuration."),
    Options.optional
  ),
  clientId: Options.text("client-id").pipe(
    Options.withDescription("Id of the client that is registered at the issuer."),
    Options.optional
  ),
  clientSecretStdin: Options.boolean("client-secret-stdin").pipe(
    Options.withDescription("Read the secret of the client from standard input.")
  ),
  scopes: Options.text("scope").pipe(
    Options.withDescription("A scope that is asked for. May be given several times."),
    Options.repeated
  ),
  domains: Options.text("domain").pipe(
    Options.withDescription("A domain of verified e-mail addresses that may sign in; 'all' for all. Several times."),
    Options.repeated
  ),
  allowedGroups: Options.text("allow-group").pipe(
    Options.withDescription("A group whose members may sign in; 'all' for all. Several times."),
    Options.repeated
  ),
  groupsClaim: Options.text("groups-claim").pipe(
    Options.withDescription("Claim that lists a person's groups, such as realm_access.roles."),
    Options.optional
  ),
  groups: Options.text("group").pipe(
    Options.withDescription(
      "What a group gives its members: <group>=<role>, <group>=<role>:<team> or <group>=:<team>; 'none' for none. Several times."
    ),
    Options.repeated
  ),
  defaultRole: Options.choice("default-role", [...userRoles, "none"]).pipe(
    Options.withDescription("Role of people whom no group gives one; 'none': they are not let in."),
    Options.optional
  ),
  scim: Options.text("scim").pipe(
    Options.withDescription(
      "Its directory pushes its people too: <claim>=<attribute> says which claim has which of externalId and userName, <claim>=<attribute>:<team> also below which team its groups are; 'none': it does not."
    ),
    Options.optional
  )
}

type SettingFlags = Command.Command.ParseConfig<typeof settings>

const flagNames = {
  name: "<name>",
  kind: "--kind",
  issuer: "--issuer",
  clientId: "--client-id",
  clientSecret: "--client-secret-stdin",
  scopes: "--scope",
  allowedDomains: "--domain",
  allowedGroups: "--allow-group",
  groupsClaim: "--groups-claim",
  groups: "--group",
  defaultRole: "--default-role",
  scim: "--scim"
}

/** Undefined: not given; `word` alone: none. */
const listGiven = (given: ReadonlyArray<string>, word: string): ReadonlyArray<string> | undefined =>
  given.length === 0 ? undefined : given.length === 1 && given[0] === word ? [] : given

/** `<group>=<role>:<team>`; the name of a group may hold `=`. */
const ruleOf = Effect.fnUntraced(function* (to: Client.Target, text: string) {
  const at = text.lastIndexOf("=")
  if (at < 1) {
    return yield* new BadArgument({
      message: `--group: '${text}' is not <group>=<role>, <group>=<role>:<team> or <group>=:<team>.`
    })
  }
  const [role = "", ...team] = text.slice(at + 1).split(":")
  const word = team.join(":")
  return {
    group: text.slice(0, at),
    role: role === "" ? null : role,
    team: word === "" ? null : yield* teamIdOf(to, word)
  }
})

/** `<claim>=<attribute>:<team>`, the team where there is one; `none`: null. */
const scimOf = Effect.fnUntraced(function* (to: Client.Target, text: string) {
  if (text === "none") return null
  const at = text.lastIndexOf("=")
  const [name = "", ...team] = text.slice(at + 1).split(":")
  const attribute = matchedAttributes.find((each) => each.toLowerCase() === name.toLowerCase())
  if (at < 1 || attribute === undefined) {
    return yield* new BadArgument({
      message: `--scim: '${text}' is not <claim>=externalId or <claim>=userName, with :<team> behind it where there is one, nor none.`
    })
  }
  const word = team.join(":")
  return { claim: text.slice(0, at), attribute, parent: word === "" ? null : yield* teamIdOf(to, word) }
})

const settingsOf = Effect.fnUntraced(function* (to: Client.Target, given: SettingFlags) {
  const groups = listGiven(given.groups, "none")
  return {
    issuer: Option.getOrUndefined(given.issuer),
    clientId: Option.getOrUndefined(given.clientId),
    clientSecret: given.clientSecretStdin ? (yield* readSecret).trim() : undefined,
    scopes: given.scopes.length === 0 ? undefined : given.scopes,
    allowedDomains: listGiven(given.domains, "all"),
    allowedGroups: listGiven(given.allowedGroups, "all"),
    groupsClaim: Option.getOrUndefined(given.groupsClaim),
    groups: groups === undefined ? undefined : yield* Effect.forEach(groups, (text) => ruleOf(to, text)),
    defaultRole: Option.getOrUndefined(Option.map(given.defaultRole, (role) => (role === "none" ? null : role))),
    scim: Option.isNone(given.scim) ? undefined : yield* scimOf(to, given.scim.value)
  }
})

export const issuersAdd = Command.make(
  "add",
  {
    name: Args.text({ name: "name" }),
    kind: Options.choice("kind", issuerKinds).pipe(
      Options.withDescription("oidc: OpenID Connect; github: GitHub's OAuth. oidc where it is not given."),
      Options.optional
    ),
    ...settings,
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const payload = yield* body(
        CreateIssuer,
        { name: given.name, kind: Option.getOrUndefined(given.kind), ...(yield* settingsOf(to, given)) },
        flagNames
      )
      const client = yield* Client.group(to, "issuers")
      const answer = yield* client.create({ payload }).pipe(Client.orExplain(to))
      const { name, redirectUri } = answer.issuer
      const text = Output.note(`'${name}' is added. Register this redirect address there: ${redirectUri}`)
      yield* Output.result({ schema: OneIssuer, value: answer, text, name })
    })
)

export const issuersEdit = Command.make(
  "edit",
  {
    found: issuerNamed,
    name: Options.text("name").pipe(Options.withDescription("Another name."), Options.optional),
    ...settings,
    ...Client.editing
  },
  (given) =>
    Effect.gen(function* () {
      const to = yield* Client.target(given)
      const payload = yield* changes(
        UpdateIssuer,
        { name: Option.getOrUndefined(given.name), ...(yield* settingsOf(to, given)) },
        { ...flagNames, name: "--name" },
        "issuers edit Company --default-role viewer"
      )
      const { client, found } = yield* findOne(issuers, to, given.found)
      const answer = yield* client.update({ path: { id: found.id }, payload })
      const { name } = answer.issuer
      yield* Output.result({ schema: OneIssuer, value: answer, text: Output.note(`'${name}' is changed.`), name })
    })
)

/** Turns inputs into the settings of an issuer, and checks them. Pure. */
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { Directory } from "../people/Owners.ts"
import type { UserRole } from "../users/entity.ts"
import { githubAddress, type Issuer, type IssuerKind, type IssuerSettings } from "./entity.ts"
import type { CreateIssuer, UpdateIssuer } from "./routes.ts"

const scopesOf: Readonly<Record<IssuerKind, ReadonlyArray<string>>> = {
  oidc: ["openid", "profile", "email"],
  // Groups are the organizations and teams of an account.
  github: ["read:user", "user:email", "read:org"]
}

/** The settings after a change: what is absent stays. */
export const changed = <Settings extends IssuerSettings>(before: Settings, input: UpdateIssuer): Settings => ({
  ...before,
  name: input.name ?? before.name,
  issuer: input.issuer ?? before.issuer,
  clientId: input.clientId ?? before.clientId,
  clientSecret: input.clientSecret === undefined ? before.clientSecret : input.clientSecret,
  scopes: input.scopes ?? before.scopes,
  allowedDomains: input.allowedDomains?.map((domain) => domain.toLowerCase()) ?? before.allowedDomains,
  allowedGroups: input.allowedGroups ?? before.allowedGroups,
  groupsClaim: input.groupsClaim ?? before.groupsClaim,
  groupRules: input.groups ?? before.groupRules,
  defaultRole: input.defaultRole === undefined ? before.defaultRole : input.defaultRole,
  scim: input.scim === undefined ? before.scim : input.scim,
  isEnabled: input.enabled ?? before.isEnabled
})

/** A new issuer's settings. */
export const settingsOf = ({ clientId, issuer, kind = "oidc", name, ...input }: CreateIssuer): IssuerSettings =>
  changed<IssuerSettings>(
    {
      name,
      kind,
      issuer: issuer ?? (kind === "github" ? githubAddress : ""),
      clientId,
      clientSecret: null,
      scopes: scopesOf[kind],
      allowedDomains: [],
      allowedGroups: [],
      groupsClaim: "groups",
      groupRules: [],
      defaultRole: "member",
      scim: null,
      isEnabled: true
    },
    input
  )

const problem = (field: string, message: string): FieldProblem => ({ field, message })

const addressProblem = ({ issuer }: IssuerSettings): FieldProblem | null => {
  if (issuer === "") return problem("issuer", "is missing: the issuer identifier, an https address")
  if (/[?#]/.test(issuer)) return problem("issuer", "must have no query and no fragment")
  return issuer.includes("/.well-known/")
    ? problem("issuer", "must be the issuer identifier: the part before /.well-known/")
    : null
}

/** Describes what is wrong with the settings; null: nothing. */
export const settingsProblem = ({ teams }: Directory, settings: IssuerSettings): FieldProblem | null => {
  const { groupRules, kind, scim, scopes } = settings
  const unknown = groupRules.find(({ team }) => team !== null && !teams.has(team))
  if (unknown !== undefined) return problem("groups", `there is no team '${unknown.team ?? ""}'`)
  if (scim !== null && scim.parent !== null && !teams.has(scim.parent)) {
    return problem("scim", `there is no team '${scim.parent}'`)
  }
  if (kind === "oidc" && !scopes.includes("openid")) return problem("scopes", "must have 'openid'")
  if (kind === "github" && settings.clientSecret === null) {
    return problem("clientSecret", "is missing: GitHub gives no token without it")
  }
  return addressProblem(settings)
}

/** A stored secret is not sent to another address. Null: the address stays, or the secret was given again. */
export const moveProblem = (before: Issuer & { readonly locked: boolean }, after: Issuer): FieldProblem | null => {
  if (before.issuer === after.issuer) return null
  const isKept = after.clientSecret === before.clientSecret && (before.clientSecret !== null || before.locked)
  return isKept
    ? problem("clientSecret", "is needed again in the same request: what is stored must not be sent to another address")
    : null
}

/** Roles that people can get by the issuer. */
export const rolesOf = ({ defaultRole, groupRules }: IssuerSettings): ReadonlyArray<UserRole> => [
  ...(defaultRole === null ? [] : [defaultRole]),
  ...groupRules.flatMap(({ role }) => role ?? [])
]

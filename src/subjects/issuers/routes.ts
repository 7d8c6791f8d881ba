/** Issuers that sign people in (docs/sso.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleId, exampleTeamId, exampleTime } from "../../contract/Examples.ts"
import {
  body,
  clearable,
  Created,
  HttpUrl,
  Name,
  NoContent,
  nextCursor,
  optional,
  ReadOnly,
  Secret,
  Text,
  total
} from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"
import { userRoles } from "../users/entity.ts"
import { issuerKinds, matchedAttributes, maxGroupRules } from "./entity.ts"

const Role = Schema.Literal(...userRoles)

const words = {
  name: ["Name on the button of the login page; no other issuer has it.", "Company directory"],
  kind: ["`oidc`: OpenID Connect; `github`: GitHub's OAuth, also of a GitHub Enterprise Server.", "oidc"],
  issuer: [
    "Issuer identifier, as the issuer's discovery document names it; of `github` the address of the server.",
    "https://login.example.com/realms/company"
  ],
  clientId: ["Id of the client that is registered at the issuer.", "gateway"],
  clientSecret: "Secret of the client; absent or null: a public client, with PKCE alone. It is in no answer.",
  scopes: ["Scopes that are asked for.", ["openid", "profile", "email"]],
  allowedDomains: [
    "Domains of e-mail addresses that may sign in; the issuer has to say that an address is verified. Empty: all.",
    ["example.com"]
  ],
  allowedGroups: ["Groups of which a person needs one to sign in; empty: none is needed.", ["ai-users"]],
  groupsClaim: ["Claim of the ID token or of the user information that lists the groups.", "groups"],
  groups: [
    "Roles and teams of the members of groups. With several roles the first of `owner`, `admin`, `lead`, `member`, `viewer` counts; of the teams that are named here people are members only by their groups.",
    [{ group: "ai-leads", role: "lead", team: exampleTeamId }]
  ],
  defaultRole: ["Role of people whom no group gives one; null: they are not let in.", "member"],
  scim: "Its directory pushes its people too (`docs/scim.md`): who signs in is the person that was pushed, and nobody else is let in. One issuer has it at most; null: it does not.",
  enabled: ["Whether people can sign in by it.", true]
} as const

const GroupRule = Schema.Struct({
  group: field(Text.pipe(Schema.maxLength(300)), "Name of the group, as the claim has it.", "ai-leads"),
  role: field(
    Schema.optionalWith(Schema.NullOr(Role), { default: () => null }),
    "Role of its members; null: not said."
  ),
  team: field(
    Schema.optionalWith(Schema.NullOr(Text.pipe(Schema.maxLength(100))), { default: () => null }),
    "Id of the team of its members; null: none.",
    exampleTeamId
  )
}).annotations({ identifier: "IssuerGroup" })

const GroupView = Schema.Struct({
  group: field(Schema.String, "Name of the group, as the claim has it.", "ai-leads"),
  role: field(Schema.NullOr(Role), "Role of its members; null: not said.", "lead"),
  team: field(Schema.NullOr(Schema.String), "Id of the team of its members; null: none.", exampleTeamId)
}).annotations({ identifier: "IssuerGroupView" })

const scimWords = {
  claim: ["Claim of a sign-in that has the value of the attribute.", "sub"],
  attribute: ["Attribute of pushed people that has the value of the claim.", "externalId"],
  parent: ["Id of the team below which the teams of pushed groups are made; null: none.", null]
} as const

const Scim = Schema.Struct({
  claim: field(Schema.optionalWith(Text.pipe(Schema.maxLength(100)), { default: () => "sub" }), ...scimWords.claim),
  attribute: field(
    Schema.optionalWith(Schema.Literal(...matchedAttributes), { default: () => "externalId" as const }),
    ...scimWords.attribute
  ),
  parent: field(
    Schema.optionalWith(Schema.NullOr(Text.pipe(Schema.maxLength(100))), { default: () => null }),
    ...scimWords.parent
  )
}).annotations({ identifier: "IssuerScim" })

const ScimView = Schema.Struct({
  claim: field(Schema.String, ...scimWords.claim),
  attribute: field(Schema.Literal(...matchedAttributes), ...scimWords.attribute),
  parent: field(Schema.NullOr(Schema.String), ...scimWords.parent)
}).annotations({ identifier: "IssuerScimView" })

export const IssuerView = Schema.Struct({
  id: field(Schema.String, "Id of the issuer, in paths of this API.", exampleId),
  name: field(Schema.String, ...words.name),
  kind: field(Schema.Literal(...issuerKinds), ...words.kind),
  issuer: field(Schema.String, ...words.issuer),
  clientId: field(Schema.String, ...words.clientId),
  hasClientSecret: field(Schema.Boolean, "Whether a secret of the client is stored.", true),
  scopes: field(Schema.Array(Schema.String), ...words.scopes),
  allowedDomains: field(Schema.Array(Schema.String), ...words.allowedDomains),
  allowedGroups: field(Schema.Array(Schema.String), ...words.allowedGroups),
  groupsClaim: field(Schema.String, ...words.groupsClaim),
  groups: field(Schema.Array(GroupView), ...words.groups),
  defaultRole: field(Schema.NullOr(Role), ...words.defaultRole),
  scim: field(Schema.NullOr(ScimView), words.scim),
  enabled: field(Schema.Boolean, ...words.enabled),
  redirectUri: field(
    Schema.String,
    "Address that is registered at the issuer as the client's redirect URI, for callers at the address of this request.",
    "https://gateway.example/api/sign-in/01JABCDEF/callback"
  ),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "Issuer" })
export type IssuerView = typeof IssuerView.Type

const Word = Schema.String.pipe(
  Schema.pattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, { message: () => "must be visible characters without quotes" })
)
const Words = Schema.Array(Word).pipe(Schema.maxItems(50))
const Domain = Schema.Trim.pipe(
  Schema.pattern(/^[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,250}[\p{L}\p{N}])?$/u, {
    message: () => "must be a domain, such as example.com"
  })
)

const settings = {
  clientSecret: field(clearable(Secret), words.clientSecret),
  scopes: field(optional(Words), ...words.scopes),
  allowedDomains: field(optional(Schema.Array(Domain).pipe(Schema.maxItems(200))), ...words.allowedDomains),
  allowedGroups: field(
    optional(Schema.Array(Text.pipe(Schema.maxLength(300))).pipe(Schema.maxItems(maxGroupRules))),
    ...words.allowedGroups
  ),
  groupsClaim: field(optional(Word), ...words.groupsClaim),
  groups: field(optional(Schema.Array(GroupRule).pipe(Schema.maxItems(maxGroupRules))), ...words.groups),
  defaultRole: field(clearable(Role), ...words.defaultRole),
  scim: field(clearable(Scim), words.scim),
  enabled: field(optional(Schema.Boolean), ...words.enabled)
}

export const CreateIssuer = Schema.Struct({
  name: field(Name, ...words.name),
  kind: field(optional(Schema.Literal(...issuerKinds)), ...words.kind),
  issuer: field(optional(HttpUrl), ...words.issuer),
  clientId: field(Word, ...words.clientId),
  ...settings
}).annotations(body("CreateIssuer"))
export type CreateIssuer = typeof CreateIssuer.Type

/** Update of an issuer; an absent member stays as it is. */
export const UpdateIssuer = Schema.Struct({
  name: field(optional(Name), ...words.name),
  issuer: field(optional(HttpUrl), ...words.issuer),
  clientId: field(optional(Word), ...words.clientId),
  ...settings,
  id: ReadOnly,
  kind: ReadOnly,
  hasClientSecret: ReadOnly,
  redirectUri: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateIssuer"))
export type UpdateIssuer = typeof UpdateIssuer.Type

const Issuer = Schema.Struct({ issuer: field(IssuerView, "The issuer.") }).annotations({ identifier: "IssuerAnswer" })

export const IssuerTest = Schema.Struct({
  ok: field(Schema.Boolean, "Whether people could sign in, as far as the issuer's documents say.", true),
  problems: field(Schema.Array(Schema.String), "Sentences about what is wrong; empty: nothing.", []),
  redirectUri: IssuerView.fields.redirectUri,
  endSession: field(Schema.Boolean, "Whether the issuer has an address for logging out.", true)
}).annotations({ identifier: "IssuerTest" })
export type IssuerTest = typeof IssuerTest.Type

const at = endpointsOf("issuers", { id: ["Id of the issuer.", exampleId] })

export class Issuers extends HttpApiGroup.make("issuers")
  .annotate(OpenApi.Title, "Issuers")
  .annotate(OpenApi.Description, "Directories that sign people in (docs/sso.md).")
  .add(
    at("list", { summary: "List issuers", description: "All issuers, the oldest first.", paged: true }).addSuccess(
      Schema.Struct({
        issuers: field(Schema.Array(IssuerView), "The issuers of the page."),
        nextCursor,
        total
      }).annotations({ identifier: "IssuerList" })
    )
  )
  .add(
    at("create", {
      summary: "Add an issuer",
      description: "Nothing is sent to it; `test` reads its documents.",
      example: { name: "Company directory", issuer: "https://login.example.com/realms/company", clientId: "gateway" }
    })
      .setPayload(CreateIssuer)
      .addSuccess(Created(Issuer))
      .addError(ConflictAnswer)
  )
  .add(
    at("get", { summary: "Show an issuer", description: "The issuer, without the secret of its client." })
      .addSuccess(Issuer)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change an issuer",
      description: "What is absent stays as it is. Another address needs the secret of the client again.",
      example: { enabled: true, defaultRole: "viewer" }
    })
      .setPayload(UpdateIssuer)
      .addSuccess(Issuer)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Remove an issuer",
      description: "Sessions that began by it end. People stay, and sign in by it no more."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  )
  .add(
    at("test", {
      summary: "Test an issuer",
      description: "Reads its discovery document and its keys, and says what is wrong. Nobody is signed in."
    })
      .addSuccess(IssuerTest)
      .addError(NotFoundAnswer)
  ) {}

/** Resources of SCIM 2.0 as they are kept here: https://www.rfc-editor.org/rfc/rfc7643 and https://www.rfc-editor.org/rfc/rfc7644 */
import * as Data from "effect/Data"

/** E-mail address as a directory writes it. */
export interface ProvisionedEmail {
  readonly value: string
  readonly type: string | null
  readonly primary: boolean
}

/** Attributes of a person as a directory has pushed them last. */
export interface Provisioned {
  /** As the directory writes it; compared without regard to case. */
  readonly userName: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly formatted: string | null
  readonly givenName: string | null
  readonly familyName: string | null
  readonly emails: ReadonlyArray<ProvisionedEmail>
}

/** `scimType` of RFC 7644, 3.12. */
export type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue"

/** Refusal in the form of SCIM; `detail` is a sentence. */
export class ScimError extends Data.TaggedError("ScimError")<{
  readonly status: number
  readonly detail: string
  readonly scimType?: ScimType
  readonly retryAfterMs?: number
}> {}

export const badValue = (detail: string): ScimError => new ScimError({ status: 400, scimType: "invalidValue", detail })
export const badPath = (detail: string): ScimError => new ScimError({ status: 400, scimType: "invalidPath", detail })
export const badSyntax = (detail: string): ScimError =>
  new ScimError({ status: 400, scimType: "invalidSyntax", detail })

export const schemaIds = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  group: "urn:ietf:params:scim:schemas:core:2.0:Group",
  enterprise: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  error: "urn:ietf:params:scim:api:messages:2.0:Error",
  list: "urn:ietf:params:scim:api:messages:2.0:ListResponse",
  patch: "urn:ietf:params:scim:api:messages:2.0:PatchOp",
  config: "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig",
  resourceType: "urn:ietf:params:scim:schemas:core:2.0:ResourceType",
  schema: "urn:ietf:params:scim:schemas:core:2.0:Schema"
} as const

export const maxChars = 300
export const maxEmails = 10
/** Resources of one page. */
export const maxPage = 500
/** Members in all groups of one page; the page ends before it has more. */
export const maxPageMembers = 20_000
/** Operations of one PATCH; a directory of the greatest size fits. */
export const maxOperations = 10_000
export const maxFilterChars = 4_000
export const maxFilterDepth = 8
export const maxComparisons = 40

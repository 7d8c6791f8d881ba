/** Descriptions of what this service provider does: RFC 7643, 5 to 7. Pure. */
import type { JsonObject } from "../../wire/json/Json.ts"
import { maxPage, schemaIds } from "./entity.ts"

export const serviceProviderConfig = (base: string): JsonObject => ({
  schemas: [schemaIds.config],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: maxPage },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: true },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "API key",
      description: "An API key of scope 'scim' as 'Authorization: Bearer <key>'.",
      specUri: "https://www.rfc-editor.org/rfc/rfc6750",
      primary: true
    }
  ],
  meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` }
})

export const resourceTypes = (base: string): ReadonlyArray<JsonObject & { readonly id: string }> =>
  (
    [
      ["User", "/Users", "A person.", schemaIds.user],
      ["Group", "/Groups", "A group, which is a team here.", schemaIds.group]
    ] as const
  ).map(([id, endpoint, description, schema]) => ({
    schemas: [schemaIds.resourceType],
    id,
    name: id,
    endpoint,
    description,
    schema,
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${id}` }
  }))

interface More {
  readonly type?: "string" | "boolean" | "complex" | "reference"
  readonly required?: boolean
  readonly caseExact?: boolean
  readonly multiValued?: boolean
  readonly mutability?: "readWrite" | "readOnly" | "immutable"
  readonly uniqueness?: "none" | "server"
  readonly subAttributes?: ReadonlyArray<JsonObject>
}

const attribute = (name: string, description: string, more: More = {}): JsonObject => ({
  name,
  type: "string",
  multiValued: false,
  description,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...more
})

const readOnly = { mutability: "readOnly" } as const

const userSchema = [
  attribute("userName", "Name by which the directory tells people apart.", { required: true, uniqueness: "server" }),
  attribute("externalId", "Id of the person in the directory.", { caseExact: true }),
  attribute("name", "Parts of the name.", {
    type: "complex",
    subAttributes: [
      attribute("formatted", "The whole name."),
      attribute("familyName", "The family name."),
      attribute("givenName", "The given name.")
    ]
  }),
  attribute("displayName", "Name that is shown."),
  attribute("active", "False: the person is suspended, and the keys are refused.", { type: "boolean" }),
  attribute("emails", "E-mail addresses, ten at most.", {
    type: "complex",
    multiValued: true,
    subAttributes: [
      attribute("value", "The address."),
      attribute("type", "Its kind, such as work."),
      attribute("primary", "Whether it is the one that is used.", { type: "boolean" })
    ]
  }),
  attribute("groups", "Groups that have the person as a member.", {
    type: "complex",
    multiValued: true,
    ...readOnly,
    subAttributes: [attribute("value", "Id of the group.", readOnly), attribute("display", "Its name.", readOnly)]
  })
]

const groupSchema = [
  attribute("displayName", "Name of the team.", { required: true, uniqueness: "server" }),
  attribute("externalId", "Id of the group in the directory.", { caseExact: true }),
  attribute("members", "People of this directory.", {
    type: "complex",
    multiValued: true,
    subAttributes: [
      attribute("value", "Id of the person.", { caseExact: true, mutability: "immutable" }),
      attribute("display", "Name of the person.", readOnly)
    ]
  })
]

export const schemas = (base: string): ReadonlyArray<JsonObject & { readonly id: string }> =>
  (
    [
      [schemaIds.user, "User", "A person.", userSchema],
      [schemaIds.group, "Group", "A group.", groupSchema]
    ] as const
  ).map(([id, name, description, attributes]) => ({
    schemas: [schemaIds.schema],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` }
  }))

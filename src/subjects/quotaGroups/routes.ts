/** Quota groups: the members that serve `qtSd/<group>/<provider>/<model>`, and the keys with an allocation. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { QuotaUnit, quotaWords, QuotaWindow } from "../connections/entity.ts"
import { allocationWords, memberWords, QuotaAllocation, QuotaMember } from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { body, Created, nextCursor, total, NoContent, optional, ReadOnly, Text } from "../../contract/Inputs.ts"
import { exampleId, exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"
import { observed } from "../../kernel/Observed.ts"

/** Use by a key of its share of a window of the members at a provider, in the unit. */
const AllocationQuota = Schema.Struct({
  provider: field(Schema.String, "Id of the provider.", "openai"),
  window: field(QuotaWindow, quotaWords.window, "daily"),
  unit: field(QuotaUnit, quotaWords.unit),
  used: field(Schema.Number, "How much of its share the key has used, in the unit.", 120),
  limit: field(Schema.Number, "Its share, in the unit.", 500),
  resetAt: field(Schema.NullOr(Schema.String), "When the window resets, ISO 8601; null: unknown.", exampleTime)
})

const words = {
  name: ["The `<group>` of the model id `qtSd/<group>/<provider>/<model>`.", "team"],
  members: "The connections that serve the group.",
  allocations: "The API keys with a share; none: everybody may use the group."
} as const

export const QuotaGroupView = Schema.Struct({
  id: field(Schema.String, "Id of the group, in paths of this API.", exampleId),
  name: field(Schema.String, ...words.name),
  members: field(Schema.Array(QuotaMember), words.members),
  allocations: field(
    Schema.Array(
      Schema.Struct({
        ...QuotaAllocation.fields,
        quotas: observed(
          Schema.Array(AllocationQuota),
          "What is used of the share, for windows that every member at the provider is known to have."
        )
      })
    ),
    words.allocations
  ),
  restricted: field(Schema.Boolean, "Whether only API keys with an allocation are let in.", true),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "QuotaGroup" })
export type QuotaGroupView = typeof QuotaGroupView.Type

/** Name of a group, which is between the slashes of a model id. */
const GroupName = Schema.Trim.pipe(
  Schema.pattern(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u, {
    message: () => "must be 1 to 64 letters, digits, '.', '_' or '-', and begin with a letter or digit"
  })
)

const Weight = Schema.Number.pipe(
  Schema.filter((weight) =>
    Number.isFinite(weight) && weight > 0 && weight <= 1_000_000 ? true : "must be a number above 0, at most 1000000"
  )
)

const Members = Schema.Array(
  Schema.Struct({
    connectionId: field(Text, ...memberWords.connectionId),
    weight: field(Weight, ...memberWords.weight)
  })
).pipe(Schema.minItems(1, { message: () => "must name at least one connection" }), Schema.maxItems(1_000))
const allocation = {
  apiKeyId: field(Text, ...allocationWords.apiKeyId),
  weight: field(Weight, ...allocationWords.weight)
}
const Allocations = Schema.Array(Schema.Struct(allocation)).pipe(Schema.maxItems(10_000))

export const CreateQuotaGroup = Schema.Struct({
  name: field(GroupName, ...words.name),
  members: field(Members, words.members),
  allocations: field(optional(Allocations), words.allocations)
}).annotations(body("CreateQuotaGroup"))
export type CreateQuotaGroup = typeof CreateQuotaGroup.Type

const ShownAllocations = Schema.Array(Schema.Struct({ ...allocation, quotas: ReadOnly })).pipe(Schema.maxItems(10_000))

/** Update of a group; an absent member stays as it is. */
export const UpdateQuotaGroup = Schema.Struct({
  name: field(optional(GroupName), ...words.name),
  members: field(optional(Members), words.members),
  allocations: field(optional(ShownAllocations), words.allocations),
  id: ReadOnly,
  restricted: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateQuotaGroup"))
export type UpdateQuotaGroup = typeof UpdateQuotaGroup.Type

const Group = Schema.Struct({ group: field(QuotaGroupView, "The group.") }).annotations({
  identifier: "QuotaGroupAnswer"
})

const at = endpointsOf("quotaGroups", { id: ["Id of the group.", exampleId] })

export class QuotaGroups extends HttpApiGroup.make("quotaGroups")
  .annotate(OpenApi.Title, "Quota groups")
  .annotate(OpenApi.Description, "Connections whose quota several API keys share by weight.")
  .add(
    at("list", {
      summary: "List quota groups",
      description: "All groups with what their keys have used.",
      paged: true
    }).addSuccess(
      Schema.Struct({
        groups: field(Schema.Array(QuotaGroupView), "The groups of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "QuotaGroupList"
      })
    )
  )
  .add(
    at("create", {
      summary: "Create a quota group",
      description: "Clients ask it with the model id `qtSd/<group>/<provider>/<model>`.",
      example: {
        name: "team",
        members: [{ connectionId: exampleId, weight: 1 }],
        allocations: [{ apiKeyId: exampleKeyId, weight: 1 }]
      }
    })
      .setPayload(CreateQuotaGroup)
      .addSuccess(Created(Group))
      .addError(ConflictAnswer)
  )
  .add(
    at("get", { summary: "Show a quota group", description: "The group with what its keys have used." })
      .addSuccess(Group)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a quota group",
      description: "What is absent stays as it is; `members` and `allocations` are replaced as a whole.",
      example: { members: [{ connectionId: exampleId, weight: 2 }] }
    })
      .setPayload(UpdateQuotaGroup)
      .addSuccess(Group)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", { summary: "Delete a quota group", description: "Its members and keys stay." })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}

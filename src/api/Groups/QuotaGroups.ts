/** Quota groups: the members that serve `qtSd/<group>/<provider>/<model>`, and the keys with an allocation. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { QuotaUnit, QuotaWindow } from "../../domain/Connection.ts"
import { QuotaAllocation, QuotaMember } from "../../domain/QuotaGroup.ts"
import { endpointsOf } from "../Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../Errors.ts"
import { body, Created, NoContent, optional, ReadOnly, Text } from "../Inputs.ts"

/** What a key has used of its share of a window of the members at a provider, in the unit. */
const AllocationQuota = Schema.Struct({
  provider: Schema.String,
  window: QuotaWindow,
  unit: QuotaUnit,
  used: Schema.Number,
  limit: Schema.Number,
  resetAt: Schema.NullOr(Schema.String)
})

export const QuotaGroupView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  members: Schema.Array(QuotaMember),
  /** `quotas`: only of windows that every member at the provider is known to have. */
  allocations: Schema.Array(Schema.Struct({ ...QuotaAllocation.fields, quotas: Schema.Array(AllocationQuota) })),
  /** Only API keys with an allocation are let in. */
  restricted: Schema.Boolean,
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotations({ identifier: "QuotaGroup" })
export type QuotaGroupView = typeof QuotaGroupView.Type

/** Stands between the slashes of a model id. */
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

const Members = Schema.Array(Schema.Struct({ connectionId: Text, weight: Weight })).pipe(
  Schema.minItems(1, { message: () => "must name at least one connection" }),
  Schema.maxItems(1_000)
)
const Allocations = Schema.Array(Schema.Struct({ apiKeyId: Text, weight: Weight })).pipe(Schema.maxItems(10_000))

export const CreateQuotaGroup = Schema.Struct({
  name: GroupName,
  members: Members,
  allocations: optional(Allocations)
}).annotations(body("CreateQuotaGroup"))
export type CreateQuotaGroup = typeof CreateQuotaGroup.Type

const ShownAllocations = Schema.Array(Schema.Struct({ apiKeyId: Text, weight: Weight, quotas: ReadOnly })).pipe(
  Schema.maxItems(10_000)
)

/** What is absent stays as it is. */
const UpdateQuotaGroup = Schema.Struct({
  name: optional(GroupName),
  members: optional(Members),
  allocations: optional(ShownAllocations),
  id: ReadOnly,
  restricted: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateQuotaGroup"))
export type UpdateQuotaGroup = typeof UpdateQuotaGroup.Type

const Group = Schema.Struct({ group: QuotaGroupView })

const at = endpointsOf("quotaGroups")

export class QuotaGroups extends HttpApiGroup.make("quotaGroups")
  .add(at("list").addSuccess(Schema.Struct({ groups: Schema.Array(QuotaGroupView) })))
  .add(at("create").setPayload(CreateQuotaGroup).addSuccess(Created(Group)).addError(ConflictAnswer))
  .add(at("get").addSuccess(Group).addError(NotFoundAnswer))
  .add(at("update").setPayload(UpdateQuotaGroup).addSuccess(Group).addError(NotFoundAnswer).addError(ConflictAnswer))
  .add(at("remove").addSuccess(NoContent).addError(NotFoundAnswer)) {}

/**
 * The management contract: every endpoint of the route table once. Handlers, the CLI's client and `/openapi.json` derive from it.
 * Errors every route can answer are declared here; the others at their endpoint.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { withCommonErrors } from "./CommonErrors.ts"
import { groups } from "./Groups.generated.ts"
import type { ManagementKey } from "./ManagementRoutes.ts"
import { withStrictBodies } from "./StrictBodies.ts"

const contract = withCommonErrors(groups)
  .annotate(OpenApi.Title, "Gateway")
  .annotate(OpenApi.Description, "Self-hosted gateway between AI clients and AI providers.")

type KeyOf<Group> = Group extends HttpApiGroup.HttpApiGroup.Any
  ? `${HttpApiGroup.HttpApiGroup.Name<Group>}.${HttpApiEndpoint.HttpApiEndpoint.Name<HttpApiGroup.HttpApiGroup.Endpoints<Group>>}`
  : never

type ContractKey =
  typeof contract extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? KeyOf<Groups> : never

/** Does not compile while a route of the table has no endpoint. */
const withAll = <Api>(api: [ManagementKey] extends [ContractKey] ? Api : Exclude<ManagementKey, ContractKey>): Api =>
  api as Api

export class GatewayApi extends withStrictBodies(withAll<typeof contract>(contract)) {}

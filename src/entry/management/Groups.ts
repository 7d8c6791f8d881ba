/**
 * The handlers of the management plane by group, loaded by the first request for one of their kind: with a chunk for each, what the start
 * loads would be in many small ones. What they work on is loaded with the plane.
 */
import type * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import type * as Layer from "effect/Layer"
import type { GroupName } from "../../contract/ManagementRoutes.ts"
import type { WholeBody } from "../../contract/WholeBody.ts"
import type { Login } from "../../subjects/auth/Login.ts"
import type { ManagementServices } from "./Services.ts"
import type * as Access from "./Access.ts"
import { handlers } from "./Handlers.generated.ts"
import type { Planes } from "../handling/Planes.ts"

/** Services that the handlers of a group are built over. */
export type GroupServices =
  | ManagementServices
  | HttpApiBuilder.Router
  | HttpRouter.HttpRouter.DefaultServices
  | Layer.Layer.Success<typeof Access.layer>
  | Login
  | Planes
  | WholeBody

export const handlersOf: {
  readonly [Name in GroupName]: () => Promise<Layer.Layer<HttpApiGroup.ApiGroup<"gateway", Name>, never, GroupServices>>
} = handlers

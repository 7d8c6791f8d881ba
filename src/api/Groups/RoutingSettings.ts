/** Settings of the routing engine: PATCH takes any part and answers the whole. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Shape from "../../domain/RoutingSettings.ts"
import { endpointsOf } from "../Endpoints.ts"
import { body } from "../Inputs.ts"

const PatchRouting = Shape.RoutingPatch.annotations(body("PatchRouting"))

const at = endpointsOf("routingSettings")

export class RoutingSettings extends HttpApiGroup.make("routingSettings")
  .add(at("get").addSuccess(Shape.RoutingSettings))
  .add(at("update").setPayload(PatchRouting).addSuccess(Shape.RoutingSettings)) {}

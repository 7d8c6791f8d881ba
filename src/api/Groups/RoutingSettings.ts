/** Settings of the routing engine: PATCH takes any part and answers the whole. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Shape from "../../domain/RoutingSettings.ts"
import { body } from "../Inputs.ts"

const path = "/api/settings/routing"
const PatchRouting = Shape.RoutingPatch.annotations(body("PatchRouting"))

export class RoutingSettings extends HttpApiGroup.make("routingSettings")
  .add(HttpApiEndpoint.get("get", path).addSuccess(Shape.RoutingSettings))
  .add(HttpApiEndpoint.patch("update", path).setPayload(PatchRouting).addSuccess(Shape.RoutingSettings)) {}

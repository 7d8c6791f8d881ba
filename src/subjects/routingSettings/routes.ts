/** Settings of the routing engine: PATCH takes any part and answers the whole. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Shape from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { body } from "../../contract/Inputs.ts"

const PatchRouting = Shape.RoutingPatch.annotations(body("PatchRouting"))

const at = endpointsOf("routingSettings")

export class RoutingSettings extends HttpApiGroup.make("routingSettings")
  .annotate(OpenApi.Title, "Routing settings")
  .annotate(OpenApi.Description, "Settings of the routing engine that hold for every request.")
  .add(
    at("get", { summary: "Show the routing settings", description: "All of them." }).addSuccess(Shape.RoutingSettings)
  )
  .add(
    at("update", {
      summary: "Change routing settings",
      description: "Takes any part and answers the whole. In force at once.",
      example: { freeTierStrict: true }
    })
      .setPayload(PatchRouting)
      .addSuccess(Shape.RoutingSettings)
  ) {}

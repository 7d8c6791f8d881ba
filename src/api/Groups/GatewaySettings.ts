/** Settings of the gateway as a whole: PATCH and PUT take any part and answer the whole. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Shape from "../../domain/GatewaySettings.ts"
import { endpointsOf } from "../Endpoints.ts"
import { body } from "../Inputs.ts"

const ChangeSettings = Shape.GatewaySettingsPatch.annotations({
  identifier: "ChangeSettings",
  parseOptions: { ...body("ChangeSettings").parseOptions, onExcessProperty: "error" }
})

const at = endpointsOf("gatewaySettings")

const change = (summary: string) => ({
  summary,
  description: "Takes any part and answers the whole; what is absent or null stays as it is.",
  example: { metricsPublic: false, decisions: { retentionDays: 14 } }
})

export class GatewaySettings extends HttpApiGroup.make("gatewaySettings")
  .annotate(OpenApi.Title, "Settings")
  .annotate(OpenApi.Description, "Settings of the gateway as a whole.")
  .add(
    at("get", {
      summary: "Show the settings",
      description: "All settings, with those that nobody changed."
    }).addSuccess(Shape.GatewaySettings)
  )
  .add(at("update", change("Change settings")).setPayload(ChangeSettings).addSuccess(Shape.GatewaySettings))
  .add(at("put", change("Change settings (PUT)")).setPayload(ChangeSettings).addSuccess(Shape.GatewaySettings)) {}

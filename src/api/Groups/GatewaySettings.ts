/** Settings of the gateway as a whole: PATCH and PUT take any part and answer the whole. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Shape from "../../domain/GatewaySettings.ts"
import { endpointsOf } from "../Endpoints.ts"
import { body } from "../Inputs.ts"

const ChangeSettings = Shape.GatewaySettingsPatch.annotations({
  identifier: "ChangeSettings",
  parseOptions: { ...body("ChangeSettings").parseOptions, onExcessProperty: "error" }
})

const at = endpointsOf("gatewaySettings")

export class GatewaySettings extends HttpApiGroup.make("gatewaySettings")
  .add(at("get").addSuccess(Shape.GatewaySettings))
  .add(at("update").setPayload(ChangeSettings).addSuccess(Shape.GatewaySettings))
  .add(at("put").setPayload(ChangeSettings).addSuccess(Shape.GatewaySettings)) {}

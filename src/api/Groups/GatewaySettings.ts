/** Settings of the gateway as a whole: PATCH and PUT take any part and answer the whole. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Shape from "../../domain/GatewaySettings.ts"
import { body } from "../Inputs.ts"

const path = "/api/settings"
const ChangeSettings = Shape.GatewaySettingsPatch.annotations({
  identifier: "ChangeSettings",
  parseOptions: { ...body("ChangeSettings").parseOptions, onExcessProperty: "error" }
})

export class GatewaySettings extends HttpApiGroup.make("gatewaySettings")
  .add(HttpApiEndpoint.get("get", path).addSuccess(Shape.GatewaySettings))
  .add(HttpApiEndpoint.patch("update", path).setPayload(ChangeSettings).addSuccess(Shape.GatewaySettings))
  .add(HttpApiEndpoint.put("put", path).setPayload(ChangeSettings).addSuccess(Shape.GatewaySettings)) {}

/** Resilience settings (contract B3, B5 "Timeouts"). PATCH takes any part and answers the whole. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { ResiliencePatch, ResilienceSettings } from "../../domain/Resilience.ts"
import { body } from "../Inputs.ts"

const PatchResilience = ResiliencePatch.annotations(body("PatchResilience"))

export class Resilience extends HttpApiGroup.make("resilience")
  .add(HttpApiEndpoint.get("get", "/api/resilience").addSuccess(ResilienceSettings))
  .add(HttpApiEndpoint.patch("update", "/api/resilience").setPayload(PatchResilience).addSuccess(ResilienceSettings)) {}

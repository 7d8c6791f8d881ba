/** The API document, made from the source. */
import { rolldown } from "rolldown"
import { bundled } from "../dashboardApi.mjs"

export const apiDocument = async () =>
  JSON.parse((await bundled(rolldown, `export { openApiJson } from "./OpenApiDocument.ts"`)).openApiJson())

/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const compressionCombos = subject("compressionCombos", {
  skill: "gw-compression",
  routes: {
    caveman: manage("GET", "/api/context/caveman/config"),
    setCaveman: manage("PUT", "/api/context/caveman/config"),
    list: manage("GET", "/api/context/combos"),
    create: manage("POST", "/api/context/combos"),
    get: manage("GET", "/api/context/combos/:id"),
    replace: manage("PUT", "/api/context/combos/:id"),
    remove: manage("DELETE", "/api/context/combos/:id"),
    assignments: manage("GET", "/api/context/combos/:id/assignments"),
    assign: manage("PUT", "/api/context/combos/:id/assignments")
  }
})

/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const evals = subject("evals", {
  skill: "gw-models",
  routes: {
    overview: manage("GET", "/api/evals"),
    start: manage("POST", "/api/evals"),
    run: manage("GET", "/api/evals/runs/:id"),
    cancel: manage("POST", "/api/evals/runs/:id/cancel"),
    createSuite: manage("POST", "/api/evals/suites"),
    suite: manage("GET", "/api/evals/suites/:id"),
    updateSuite: manage("PUT", "/api/evals/suites/:id"),
    removeSuite: manage("DELETE", "/api/evals/suites/:id")
  }
})

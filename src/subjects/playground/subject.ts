/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { inference } from "../../contract/tiers/Tiers.ts"

export const playground = subject("playground", {
  skill: "gw-models",
  routes: {
    presets: inference("GET", "/api/playground/presets"),
    createPreset: inference("POST", "/api/playground/presets"),
    preset: inference("GET", "/api/playground/presets/:id"),
    updatePreset: inference("PUT", "/api/playground/presets/:id"),
    removePreset: inference("DELETE", "/api/playground/presets/:id"),
    improvePrompt: inference("POST", "/api/playground/improve-prompt"),
    compare: inference("POST", "/api/playground/compare"),
    snippets: inference("POST", "/api/playground/snippets")
  }
})

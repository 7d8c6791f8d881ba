/** Words of a first question. */
export const words = {
  prompt: "Ask",
  model: "Model",
  ask: "Ask it",
  asking: "Asking …",
  first: "Say hello in one word.",
  why: "Why here?"
} as const

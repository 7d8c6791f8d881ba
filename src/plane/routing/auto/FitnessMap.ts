/** Data of `Fitness.ts`: how well models do at tasks, [0, 1]. `*` stands for anything; a pattern covers the whole name without its path. */
import type { TaskType } from "../candidate/Candidate.ts"

export type FitnessRow = Readonly<Record<TaskType, number>>
export type CapabilityClass = "premium" | "standard" | "fast" | "budget"

/** Fitness of models of which only the capabilities are known. */
export const classRows: Readonly<Record<CapabilityClass, FitnessRow>> = {
  premium: {
    coding: 0.92,
    review: 0.93,
    planning: 0.94,
    analysis: 0.95,
    debugging: 0.9,
    documentation: 0.88,
    default: 0.85
  },
  standard: {
    coding: 0.85,
    review: 0.84,
    planning: 0.85,
    analysis: 0.85,
    debugging: 0.82,
    documentation: 0.85,
    default: 0.78
  },
  fast: {
    coding: 0.78,
    review: 0.72,
    planning: 0.7,
    analysis: 0.72,
    debugging: 0.75,
    documentation: 0.8,
    default: 0.72
  },
  budget: {
    coding: 0.65,
    review: 0.6,
    planning: 0.55,
    analysis: 0.58,
    debugging: 0.6,
    documentation: 0.7,
    default: 0.55
  }
}

/** Fitness of named models; the tasks left out are filled from the class their coding value belongs to. */
export const namedFitness: Readonly<Record<string, { readonly coding: number } & Partial<FitnessRow>>> = {
  "*codex*": { coding: 0.98, debugging: 0.92 },
  "*claude*sonnet*": { coding: 0.95, review: 0.92, debugging: 0.93, documentation: 0.9, default: 0.85 },
  "o3*": { coding: 0.95, review: 0.92, planning: 0.95 },
  "o1*": { coding: 0.93 },
  "*claude*opus*": { coding: 0.92, review: 0.95, planning: 0.95, analysis: 0.95, debugging: 0.9, default: 0.85 },
  "*gemini-2.5-pro*": { coding: 0.92, review: 0.93, planning: 0.93, analysis: 0.95 },
  "gpt-4o*": { coding: 0.9, documentation: 0.92, default: 0.85 },
  "*deepseek-coder*": { coding: 0.9, debugging: 0.9 },
  "gpt-4-turbo*": { coding: 0.88 },
  "o4-mini*": { coding: 0.88 },
  "*deepseek-r1*": { coding: 0.88 },
  "*deepseek-v3.2*": { coding: 0.86 },
  "*gemini*-pro*": { coding: 0.85 },
  "*deepseek-v3*": { coding: 0.85 },
  "*deepseek-chat*": { coding: 0.84 },
  "*gemini-2.5-flash*": { coding: 0.82 },
  "grok-4*": { coding: 0.82 },
  "*kimi-k2*": { coding: 0.82 },
  "gpt-4o-mini*": { coding: 0.8 },
  "*gemini*flash*": { coding: 0.8 },
  "grok*": { coding: 0.8 },
  "*claude*haiku*": { coding: 0.78 },
  "*qwen*": { coding: 0.78 },
  "*glm*": { coding: 0.78 },
  "*mixtral*": { coding: 0.77 },
  "*mistral*": { coding: 0.75 },
  "*minimax-m2.5*": { coding: 0.75 },
  "*llama*": { coding: 0.72 },
  "*minimax-m2*": { coding: 0.72 }
}

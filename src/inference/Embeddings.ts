/** Which models make embeddings, where no upstream and no operator tells. */
export { isEmbeddingModel } from "../providers/ChatModels.ts"

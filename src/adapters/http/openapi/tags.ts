/** The groups of operations, as Swagger UI shows them. */
export const TAGS = {
  plants: { name: 'Plants', description: 'Create, list and delete plants.' },
  service: { name: 'Service', description: 'Documentation, health and metrics. Needs no token.' },
} as const;

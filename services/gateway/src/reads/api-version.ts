// The version of the API, as the documents that describe it say it.
export const apiVersion = '1.0.0';

import { input, path, query, type Route } from '../../route.js';
import { BIOMARKER, PAGE, PROTOCOL } from './selections.js';

export const DICTIONARY: Route[] = [
  {
    method: 'GET',
    path: '/v1/biomarkers/catalog',
    status: [200],
    summary: 'List the biomarker dictionary',
    document: `query Biomarkers($category: BiomarkerCategory, $q: String, $first: Int, $after: String) {
      result: biomarkers(category: $category, q: $q, first: $first, after: $after) { nodes { ${BIOMARKER} } ${PAGE} }
    }`,
    variables: { category: query('category'), q: query('q') },
  },
  {
    method: 'GET',
    path: '/v1/biomarkers/catalog/{code}',
    status: [200],
    summary: 'Read a biomarker by code or LOINC',
    document: `query Biomarker($code: String!) { result: biomarker(code: $code) { ${BIOMARKER} } }`,
    variables: { code: path('code') },
  },
  {
    method: 'GET',
    path: '/v1/protocols/catalog',
    status: [200],
    summary: 'List the protocols in force',
    document: `query Protocols($first: Int, $after: String) { result: protocols(first: $first, after: $after) { nodes { ${PROTOCOL} } ${PAGE} } }`,
  },
  {
    method: 'GET',
    path: '/v1/protocols/catalog/{key}',
    status: [200],
    summary: 'Read a protocol',
    document: `query Protocol($key: String!) { result: protocol(key: $key) { ${PROTOCOL} } }`,
    variables: { key: path('key') },
  },
  {
    method: 'PUT',
    path: '/v1/admin/biomarkers/{code}',
    status: [200],
    summary: 'Put the next version of a dictionary entry',
    document: `mutation PutBiomarker($input: PutBiomarkerInput!) { result: putBiomarker(input: $input) { ${BIOMARKER} } }`,
    variables: { input: input({ path: ['code'] }) },
    problems: { 409: 'Another version is in force' },
  },
  {
    method: 'PUT',
    path: '/v1/protocols/catalog/{key}',
    status: [200],
    summary: 'Put the next version of a protocol',
    document: `mutation PutProtocol($input: PutProtocolInput!) { result: putProtocol(input: $input) { ${PROTOCOL} } }`,
    variables: { input: input({ path: ['key'] }) },
    problems: { 409: 'Another version is in force' },
  },
];

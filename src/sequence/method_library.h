/*-------------------------------------------------------------------------
 *
 * method_library.h
 *	  Loading the libraries of other sequence access methods.
 *
 * src/sequence/method_library.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_METHOD_LIBRARY_H
#define SK_METHOD_LIBRARY_H

extern bool sk_method_library_load(const char *kind);

#endif							/* SK_METHOD_LIBRARY_H */
